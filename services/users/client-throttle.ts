import { RosterError } from '#lib/errors'
import type { Sql } from '#lib/eventstore/database'
import { countUnder, type Limit, reached } from './attempts.ts'

/**
 * RESOURCE_EXHAUSTED CLIENT_THROTTLED where a client failed too often from an address, or the address at all. Secrets and keys are
 * too long to be guessed: what is spared is the work, so failures count once they happened, and who succeeds costs no write.
 */
export async function refuseThrottled(sql: Sql, clientId: string, address: string): Promise<void> {
  const wait = await reached(sql, limitsFrom(clientId, address))
  if (wait !== undefined) throw throttled(wait)
}

/**
 * Counts a failure. RESOURCE_EXHAUSTED CLIENT_THROTTLED where the client failed too often from anywhere: only failures are told so,
 * or a stranger could keep a machine out.
 */
export async function countFailure(sql: Sql, clientId: string, address: string): Promise<void> {
  await countUnder(sql, limitsFrom(clientId, address))
  const wait = await countUnder(sql, [{ key: `client ${clientId}`, most: 100, window: 3600 }])
  if (wait !== undefined) throw throttled(wait)
}

function limitsFrom(clientId: string, address: string): Limit[] {
  return [
    { key: `client ${clientId} from ${address}`, most: 10, window: 300 },
    { key: `clients from ${address}`, most: 500, window: 300 },
  ]
}

function throttled(retryAfter: number) {
  return new RosterError('RESOURCE_EXHAUSTED', 'CLIENT_THROTTLED', 'There were too many failed attempts.', {
    retryAfter,
  })
}

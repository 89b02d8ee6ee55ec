import { RosterError } from '#lib/errors'
import type { Sql } from '#lib/eventstore/database'
import { countUnder } from './attempts.ts'

/**
 * Counts a failure of a client. RESOURCE_EXHAUSTED CLIENT_THROTTLED after too many of it from the address, from the address at all,
 * or of the client from anywhere. Only who fails is told so: secrets and keys are too long to be guessed, and whoever has the right
 * one must not be kept out by the failures of others.
 */
export async function countFailure(sql: Sql, clientId: string, address: string): Promise<void> {
  const retryAfter = await countUnder(sql, [
    { key: `client ${clientId} from ${address}`, most: 10, window: 300 },
    { key: `clients from ${address}`, most: 500, window: 300 },
    { key: `client ${clientId}`, most: 100, window: 3600 },
  ])
  if (retryAfter !== undefined)
    throw new RosterError('RESOURCE_EXHAUSTED', 'CLIENT_THROTTLED', 'There were too many failed attempts.', {
      retryAfter,
    })
}

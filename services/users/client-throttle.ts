import { canonicalName } from '#lib/canonical-name'
import { RosterError } from '#lib/errors'
import type { Sql } from '#lib/eventstore/database'
import { countUnder } from './attempts.ts'

/**
 * Counts a failure of a client, however its name is spelt. RESOURCE_EXHAUSTED CLIENT_THROTTLED after too many of it from the address,
 * from the address at all, or of the client from anywhere. Only who fails is told so: secrets and keys are too long to be guessed, and
 * whoever has the right one must not be kept out by the failures of others.
 */
export async function countFailure(sql: Sql, clientId: string, address: string): Promise<void> {
  const name = canonicalName(clientId)
  // The address first: once it has to wait, the names that it makes up leave nothing behind.
  const retryAfter =
    (await countUnder(sql, [{ key: `clients from ${address}`, most: 500, window: 300 }])) ??
    (await countUnder(sql, [
      { key: `client ${name} from ${address}`, most: 10, window: 300 },
      { key: `client ${name}`, most: 100, window: 3600 },
    ]))
  if (retryAfter !== undefined)
    throw new RosterError('RESOURCE_EXHAUSTED', 'CLIENT_THROTTLED', 'There were too many failed attempts.', {
      retryAfter,
    })
}

import { canonicalName } from '#lib/search/canonical-name'
import { RosterError } from '#lib/errors'
import type { Context } from '../../context.ts'
import { type NamedRateLimit, networkOf, rateLimitsFor, takeFromBuckets } from './token-buckets.ts'

/**
 * The rate limits of clients. Counts a failure of a client, the same for every spelling of its name. RESOURCE_EXHAUSTED
 * CLIENT_THROTTLED after too many failures: of the client from the address, of the address or its /48, or of the client
 * from anywhere. Only a failing caller gets this error. Secrets and keys are too long to guess, and failures of others
 * must not keep out the owner of the right one.
 */
export async function countFailure(context: Keeper, clientId: string, address: string): Promise<void> {
  const name = canonicalName(clientId)
  await count(context, [
    ...limitsOf(address),
    { name: ['client from', name, address], most: 10, pause: 30, kind: 'always' },
    { name: ['client', name], most: 100, pause: 36, kind: 'always' },
  ])
}

/**
 * Counts a text that came as a refresh token and is none, as a failure of the address alone. A server keeps the tokens of
 * all its people, and after `sessions end` each of them is such a text: who had it is to sign in again, not to wait.
 * RESOURCE_EXHAUSTED CLIENT_THROTTLED.
 */
export async function countNoToken(context: Keeper, address: string): Promise<void> {
  await count(context, limitsOf(address))
}

type Keeper = Pick<Context, 'sql' | 'keys'>

function limitsOf(address: string): NamedRateLimit[] {
  const network = networkOf(address)
  const limits: NamedRateLimit[] = [{ name: ['clients from', address], most: 500, pause: 0.6, kind: 'always' }]
  if (network !== undefined) limits.push({ name: ['clients from', network], most: 5000, pause: 0.06, kind: 'always' })
  return limits
}

async function count({ sql, keys }: Keeper, limits: NamedRateLimit[]): Promise<void> {
  const retryAfter = await takeFromBuckets(sql, rateLimitsFor(keys, limits))
  if (retryAfter !== undefined)
    throw new RosterError('RESOURCE_EXHAUSTED', 'CLIENT_THROTTLED', 'There were too many failed attempts.', {
      retryAfter,
    })
}

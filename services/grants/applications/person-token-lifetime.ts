import { type Cache, createCache } from '#lib/cache'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../context.ts'

/**
 * How long access tokens of people live at most, in seconds: a setting of users. Undefined while users does not answer,
 * because a read of applications shall not wait for it.
 */
export async function personTokenLifetime(
  { users }: Context,
  { requestId, deadline }: Call,
): Promise<number | undefined> {
  let cache = caches.get(users)
  if (!cache) caches.set(users, (cache = createCache({ capacity: 1, maxAge: 60_000 })))
  const known = cache.get('')
  if (known !== undefined) return known
  const call = { requestId, deadline: Math.min(deadline, Date.now() + longestWait) }
  try {
    return await cache.obtain('', async () => ({ value: (await users.getPersonTokenLifetime({}, call)).lifetime }))
  } catch {
    return undefined
  }
}

/** Milliseconds. */
const longestWait = 1000
const caches = new WeakMap<Context['users'], Cache<number>>()

import { canonicalName } from '#lib/canonical-name'
import { RosterError } from '#lib/errors'
import type { Sql } from '#lib/eventstore/database'
import { countUnder, keyOf, type Limit } from './attempts.ts'

/**
 * Counts an attempt to sign in before its password is looked at, so that attempts at one time count too. Names count alike
 * whether there is such a user or not. Throws RESOURCE_EXHAUSTED SIGN_IN_THROTTLED with the seconds to wait.
 * Gives what takes the attempt back once it succeeded.
 */
export async function countAttempt(sql: Sql, loginName: string, address: string): Promise<() => Promise<void>> {
  const name = canonicalName(loginName)
  // What one limit refuses counts under no later one: an address that must wait shuts nobody else out, and leaves no names behind.
  const limits: Limit[] = [
    { key: `address ${address}`, most: 100, window: 300 },
    { key: `pair ${address} ${name}`, most: 5, window: 300 },
    { key: `name ${name}`, most: 100, window: 3600 },
  ]
  let retryAfter: number | undefined
  for (const limit of limits) retryAfter ??= await countUnder(sql, [limit])
  if (retryAfter !== undefined)
    throw new RosterError('RESOURCE_EXHAUSTED', 'SIGN_IN_THROTTLED', 'There were too many attempts to sign in.', {
      retryAfter,
    })
  const [from, pair, named] = limits.map(({ key }) => keyOf(key))
  return async () => {
    // In the order of the keys, as above, so that two sign-ins cannot wait for each other.
    await sql`
      update sign_in_attempts set attempts = greatest(attempts - 1, 0)
      where key in (
        select key from sign_in_attempts
        where key in (select decode(unnest(${[from!, named!]}::text[]), 'hex'))
        order by key
        for update
      )
    `
    await sql`delete from sign_in_attempts where key = decode(${pair!}, 'hex')`
  }
}

/** Forgets attempts whose window is over. */
export async function forgetAttempts(sql: Sql): Promise<void> {
  await sql`delete from sign_in_attempts where window_end < now()`
}

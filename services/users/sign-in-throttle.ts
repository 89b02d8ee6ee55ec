import { createHash } from 'node:crypto'
import { canonicalName } from '#lib/canonical-name'
import { RosterError } from '#lib/errors'
import { orUnavailable, type Sql } from '#lib/eventstore/database'

interface Limit {
  key: string
  most: number
  /** Seconds. */
  window: number
}

/**
 * Counts an attempt to sign in before its password is looked at, so that attempts at one time count too. Names count alike
 * whether there is such a user or not. Throws RESOURCE_EXHAUSTED SIGN_IN_THROTTLED with the seconds to wait.
 * Gives what takes the attempt back once it succeeded.
 */
export async function countAttempt(sql: Sql, loginName: string, address: string): Promise<() => Promise<void>> {
  const name = canonicalName(loginName)
  const limits: Limit[] = [
    { key: `pair ${address} ${name}`, most: 5, window: 300 },
    { key: `name ${name}`, most: 100, window: 3600 },
    { key: `address ${address}`, most: 100, window: 300 },
  ]
  // In hex: postgres.js takes an array of buffers for one buffer.
  const keys = limits.map(({ key }) => createHash('sha256').update(key).digest('hex'))
  const rows = await orUnavailable(sql<{ key: string; attempts: number; wait: number }[]>`
    insert into sign_in_attempts as a (key, attempts, window_end)
    select decode(key, 'hex'), 1, now() + make_interval(secs => window_seconds)
    from unnest(${keys}::text[], ${limits.map(({ window }) => window)}::int[]) as l (key, window_seconds)
    order by key
    on conflict (key) do update set
      attempts = case when a.window_end > now() then a.attempts + 1 else 1 end,
      window_end = case when a.window_end > now() then a.window_end else excluded.window_end end
    returning encode(key, 'hex') as key, attempts, extract(epoch from window_end - now())::float8 as wait
  `)
  const waits = rows.filter(({ key, attempts }) => attempts > limits[keys.indexOf(key)]!.most)
  if (waits.length > 0)
    throw new RosterError('RESOURCE_EXHAUSTED', 'SIGN_IN_THROTTLED', 'There were too many attempts to sign in.', {
      retryAfter: Math.max(1, Math.ceil(Math.max(...waits.map(({ wait }) => wait)))),
    })
  return async () => {
    // In the order of the keys, as above, so that two sign-ins cannot wait for each other.
    await sql`
      update sign_in_attempts set attempts = greatest(attempts - 1, 0)
      where key in (
        select key from sign_in_attempts
        where key in (select decode(unnest(${keys.slice(1)}::text[]), 'hex'))
        order by key
        for update
      )
    `
    await sql`delete from sign_in_attempts where key = decode(${keys[0]!}, 'hex')`
  }
}

/** Forgets attempts whose window is over. */
export async function forgetAttempts(sql: Sql): Promise<void> {
  await sql`delete from sign_in_attempts where window_end < now()`
}

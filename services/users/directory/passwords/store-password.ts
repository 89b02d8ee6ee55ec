import type { Write } from '#lib/database/database'
import { withoutTokens } from '../tokens/without-tokens.ts'

/**
 * Stores another hash of the same password in place of this one. It is no change: nothing ends, and nobody is told. A
 * password that was changed meanwhile stays; so does one that is being changed, which this waits for in no case.
 */
export function renewHash(userId: string, former: string, hash: string): Write {
  return (sql) => sql`
    update passwords set hash = ${hash} where user_id = (
      select user_id from passwords where user_id = ${userId} and hash = ${former} for no key update skip locked
    )
  `
}

/** Stores the hash of a new password, and ends the user's sessions. `kept` is the id of one that goes on, or empty. */
export function storePassword(userId: string, hash: string, kept: string): Write[] {
  return [
    (sql) => sql`
      insert into passwords (user_id, hash) values (${userId}, ${hash})
      on conflict (user_id) do update set hash = excluded.hash
    `,
    withoutTokens((sql) => sql`user_id = ${userId} and session_id not in ('', ${kept})`),
  ]
}

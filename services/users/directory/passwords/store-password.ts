import type { Write } from '#lib/database/database'
import { withoutTokens } from '../tokens/without-tokens.ts'

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

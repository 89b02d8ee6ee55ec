import type { Fragment, Statement, Transaction } from '#lib/database/database'

/**
 * Takes away tokens. Those sessions among them that applications are to be told of get their event, as surplus ones do.
 */
export function withoutTokens(which: (sql: Transaction) => Fragment): Statement {
  return (sql) => sql`
    with gone as (
      delete from tokens where ${which(sql)} returning session_id, user_id, expires_at
    )
    insert into surplus_sessions (session_id, user_id) select session_id, user_id from gone
    where expires_at > roster_now()
      and exists (select from session_applications a where a.session_id = gone.session_id)
    on conflict do nothing
  `
}

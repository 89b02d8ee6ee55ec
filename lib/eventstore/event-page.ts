import type { StoredEvent } from '../events/stored-event.ts'
import type { Fragment, Sql, Transaction } from '../database/database.ts'

export function eventColumns(sql: Pick<Sql, 'unsafe'>) {
  return sql.unsafe(
    `position, transaction_id::text, aggregate_type, aggregate_id, sequence, type, payload,
      organization_id, creator, request_id, cause, traceparent, created_at`,
  )
}

/**
 * An event of a page. `before`: bytes of the payloads before it in the page. `found` also counts the events that are
 * left out because they are too large for one page.
 */
export type PageRow = StoredEvent & { found: number; before: string }

/** The next events in commit order for which `where` holds. Their payloads have `bytes`, but the last one may exceed it. */
export function readPage(sql: Sql | Transaction, where: Fragment, limit: number, bytes: number) {
  // `order by` names the columns of the table. Unqualified, it would sort the selected text, where 10 comes before 9.
  return sql<PageRow[]>`
    select ${eventColumns(sql)}, found, before
    from (
      select *, count(*) over ()::int as found,
        sum(bytes) over (order by passing.transaction_id, passing.position) - bytes as before
      from (
        select *, octet_length(payload::text) as bytes from events
        where ${where}
        order by events.transaction_id, events.position
        limit ${limit}
      ) passing
    ) events
    where before < ${bytes}
    order by events.transaction_id, events.position
  `
}

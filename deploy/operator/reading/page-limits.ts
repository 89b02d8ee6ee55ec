import type { Fragment, Sql, Transaction } from '#lib/eventstore/database'

/** Bytes of a value, or of a row of `events`. No service stores larger ones, and no command reads one. */
export const largestValue = 8 * 1024 * 1024
/** Bytes of the values of a page. Its last row may exceed it. */
export const mostBytes = 8 * 1024 * 1024
/** Rows of the first page. */
export const firstPage = 100
/** Rows of a page. */
export const mostRows = 1000

/**
 * Rows that the next page may have, where this one had so many. PostgreSQL measures all of them, and gives those that
 * fit. So large ones are not measured again and again.
 */
export function nextLimit(read: number): number {
  return Math.min(mostRows, Math.max(1, 2 * read))
}

/** Rows that fit in a page, where the largest has so many bytes. */
export function rowsOf(largest: number): number {
  return Math.max(1, Math.min(mostRows, Math.floor(mostBytes / largest)))
}

/**
 * Those of `rows` that fit in a page, in an order of their columns. Each row says its `bytes`. Nobody reads one that is
 * too large, so it counts as if it were not.
 */
export function fitting(sql: Sql | Transaction, rows: Fragment, order: Fragment): Fragment {
  // With 'offset 0', PostgreSQL measures a row once, and not wherever its bytes stand.
  const bytes = sql`least(bytes, ${largestValue})`
  return sql`
    select * from (
      select *, sum(${bytes}) over (order by ${order}) - ${bytes} as before from (${rows} offset 0) next
    ) measured
    where before < ${mostBytes}
  `
}

/** The columns of `events` that are text. */
export const textsOfEvent =
  'aggregate_type aggregate_id type organization_id creator request_id cause traceparent'.split(' ')

/** The bytes of a row of `events`. */
export function rowBytes(sql: Pick<Sql, 'unsafe'>) {
  return bytesOf(sql, ['payload', ...textsOfEvent])
}

/** The bytes of these columns, as text. A few bytes of JSON may be numbers of 100,000 digits. */
export function bytesOf(sql: Pick<Sql, 'unsafe'>, columns: string[]) {
  return sql.unsafe(`(${columns.map((name) => `coalesce(octet_length(${name}::text), 0)::bigint`).join(' + ')})`)
}

import type { Sql } from '#lib/eventstore/database'

/** Bytes of a value, or of a row of `events`. No service stores larger ones, and no command reads one. */
export const largestValue = 8 * 1024 * 1024
/** Bytes of the values of a page. Its last row may exceed it. */
export const mostBytes = 8 * 1024 * 1024
/** Rows of the first page. */
export const firstPage = 100
const mostRows = 1000

/**
 * Rows that the next page may have, where this one had so many. PostgreSQL measures all of them, and gives those that
 * fit. So large ones are not measured again and again.
 */
export function nextLimit(read: number): number {
  return Math.min(mostRows, 2 * read)
}

/** Rows that fit in a page, where the largest has so many bytes. */
export function rowsOf(largest: number): number {
  return Math.max(1, Math.min(mostRows, Math.floor(mostBytes / largest)))
}

/** The columns of `events` that are text. */
export const textsOfEvent =
  'aggregate_type aggregate_id type organization_id creator request_id cause traceparent'.split(' ')

/** The bytes of a row of `events`. */
export function rowBytes(sql: Pick<Sql, 'unsafe'>) {
  const bytes = textsOfEvent.map((name) => `coalesce(octet_length(${name}), 0)`).join(' + ')
  return sql.unsafe(`(octet_length(payload::text)::bigint + ${bytes})`)
}

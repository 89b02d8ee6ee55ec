import type { Fragment, Sql } from '../database/database.ts'
import type { Keyring } from '../encryption/keys.ts'
import { type Asked, readCursor, writeCursor } from './cursor.ts'
import { runQueued } from './search-queue.ts'

export interface Search extends Asked {
  /** The list of what a row shows, such as sql`user_id, user_name`. */
  columns: Fragment
  /** The tables that the filters and the order need. */
  from: Fragment
  /** Joins the tables that only the columns need. Each of these has one row for each row of `from`. */
  shown?: Fragment
  /** The filters. */
  where: Fragment
  order: Order
}

/** An order of rows, by columns that are never null and unique together. An index has the columns that `where` fixes,
 * and then these. */
export interface Order {
  by: { column: Fragment; type: 'text' | 'bigint' | 'timestamptz' | 'uuid' }[]
  descending?: boolean
}

export interface Page<Row> {
  rows: Row[]
  /** Empty after the last page. */
  nextCursor: string
  /** Only where the request asks for it: how many rows pass the filters, counted up to `mostCounted`. */
  total: number | undefined
}

/** The rows of a page where the request has no limit. */
export const defaultLimit = 50
const mostCounted = 10_000
// An answer must fit into a message between services.
const mostBytes = 1024 * 1024

/**
 * Reads the page that a request asks for. A page that gets too large ends early. INVALID_ARGUMENT CURSOR_INVALID, and
 * the errors of `runQueued`.
 */
export async function search<Row extends object>(
  { sql, keys }: { sql: Sql; keys: Keyring },
  asked: Search,
): Promise<Page<Row>> {
  const { request, columns, from, shown = sql``, where, order } = asked
  const place = readCursor(keys, asked)
  const limit = request.limit || defaultLimit
  const read = await runQueued(
    sql,
    asked.call,
    sql<(Row & Placed)[]>`
      select ${columns}, array[${list(sql, order, ({ column }) => sql`(${column})::text`)}] as place_in_order
      from ${from} ${shown}
      where (${where}) ${place === undefined ? sql`` : after(sql, order, place)}
      order by ${sortedBy(sql, order)}
      limit ${limit + 1}
    `,
  )
  const page = cutPage(read.slice(0, limit))
  const ends = page.length === read.length
  return {
    rows: page,
    nextCursor: ends ? '' : writeCursor(keys, asked, page.at(-1)!.place_in_order),
    total: request.withTotal
      ? await count(sql, asked, ends && place === undefined ? page.length : undefined)
      : undefined,
  }
}

interface Placed {
  place_in_order: string[]
}

function list(sql: Sql, { by }: Order, show: (column: Order['by'][number], index: number) => Fragment): Fragment {
  return by.map(show).reduce((all, next) => sql`${all}, ${next}`)
}

function sortedBy(sql: Sql, order: Order): Fragment {
  return list(sql, order, ({ column }) => (order.descending ? sql`${column} desc` : sql`${column} asc`))
}

// The places come as texts, because the driver would cut a time to milliseconds.
function after(sql: Sql, order: Order, place: string[]): Fragment {
  const columns = list(sql, order, ({ column }) => column)
  const values = list(sql, order, ({ type }, index) => sql`${place[index]!}::text::${sql.unsafe(type)}`)
  return order.descending ? sql`and (${columns}) < (${values})` : sql`and (${columns}) > (${values})`
}

/** The rows of a page up to about 1 MiB, and at least one. */
export function cutPage<Row extends object>(rows: Row[]): Row[] {
  let bytes = 0
  const end = rows.findIndex((row) => (bytes += Buffer.byteLength(JSON.stringify(row))) > mostBytes)
  return end === -1 ? rows : rows.slice(0, Math.max(end, 1))
}

// In the order of the page, so that PostgreSQL walks its index and stops at the limit.
async function count(sql: Sql, { call, from, where, order }: Search, known: number | undefined): Promise<number> {
  if (known !== undefined) return known
  const [row] = await runQueued(
    sql,
    call,
    sql<{ total: number }[]>`
      select count(*)::int as total from (
        select from ${from} where (${where}) order by ${sortedBy(sql, order)} limit ${mostCounted}
      ) counted
    `,
  )
  return row!.total
}

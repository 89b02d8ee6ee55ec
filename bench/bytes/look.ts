import { connect } from 'nats'
import type { Sql } from 'postgres'
import type { System } from '../system.ts'

/** Bytes by part, and rows. */
export interface Added {
  /** By table, with its indexes. */
  tables: Record<string, number>
  wal: number
  /** WAL by kind of record, as `pg_get_wal_stats` names them. Empty where PostgreSQL has dropped some of it. */
  records: Record<string, number>
  stream: number
  /** By table. */
  rows: Record<string, number>
}

/** What there is, and the place in the WAL. */
export interface Look {
  tables: Record<string, number>
  rows: Record<string, number>
  place: string
  stream: number
}

/** Vacuums, so that what is dead does not count, and the numbers of rows are right. */
export async function look(sql: Sql, { servers }: System): Promise<Look> {
  const [row] = await sql<[{ place: string }]>`select pg_current_wal_insert_lsn()::text as place`
  await sql`vacuum`
  const tables = await sql<{ name: string; size: number; rows: number }[]>`
    select relnamespace::regnamespace || '.' || relname as name, pg_total_relation_size(oid)::float8 as size,
      greatest(reltuples, 0)::float8 as rows
    from pg_class where relkind = 'r' and relnamespace::regnamespace::text like 'roster%'
  `
  const { host, username, password } = new URL(servers.natsUrl.admin)
  const nats = await connect({ servers: host, user: username, pass: password })
  const { state } = await (await nats.jetstreamManager()).streams.info('roster-events')
  await nats.close()
  return {
    tables: Object.fromEntries(tables.map(({ name, size }) => [name, size])),
    rows: Object.fromEntries(tables.map(({ name, rows }) => [name, rows])),
    place: row.place,
    stream: state.bytes,
  }
}

/** What each of a number added. */
export async function addedBetween(sql: Sql, before: Look, after: Look, number: number): Promise<Added> {
  const each = (parts: Record<string, number>, earlier: Record<string, number> = {}) =>
    Object.fromEntries(
      Object.entries(parts)
        .map(([name, size]) => [name, (size - (earlier[name] ?? 0)) / number] as const)
        .filter(([, size]) => size >= 0.01)
        .toSorted((a, b) => b[1] - a[1]),
    )
  return {
    tables: each(after.tables, before.tables),
    wal: (await walBetween(sql, before.place, after.place)) / number,
    records: each(await recordsBetween(sql, before.place, after.place)),
    stream: (after.stream - before.stream) / number,
    rows: each(after.rows, before.rows),
  }
}

async function walBetween(sql: Sql, from: string, to: string): Promise<number> {
  const [row] = await sql<[{ bytes: number }]>`select pg_wal_lsn_diff(${to}::pg_lsn, ${from}::pg_lsn)::float8 as bytes`
  return row.bytes
}

async function recordsBetween(sql: Sql, from: string, to: string): Promise<Record<string, number>> {
  const rows = await sql<{ name: string; size: number; images: number }[]>`
    select "resource_manager/record_type" as name, record_size::float8 as size, fpi_size::float8 as images
    from pg_get_wal_stats(${from}::pg_lsn, ${to}::pg_lsn, true) where count > 0
  `.catch((error: Error) => {
    if (error.message.includes('has already been removed')) return []
    throw error
  })
  const images = rows.reduce((all, row) => all + row.images, 0)
  return Object.fromEntries([...rows.map(({ name, size }) => [name, size] as const), ['whole pages', images]])
}

import type { Sql } from '#lib/database/database'

/** So many transactions the cluster of a restored dump is behind the one that the dump is from. */
const behind = 1_000_000_000

/**
 * Makes of a database what a dump of it is in a younger cluster: all transaction ids are those of the older one, and
 * the server is another. Positions count on from where the dump left them.
 */
export async function restoreIntoYounger(sql: Sql): Promise<void> {
  const places = ['events', 'published', 'followers', 'parked_for_followers', 'audit_chain', 'audit_pages'].map(
    (table) => `update ${table} set transaction_id = (transaction_id::text::bigint + ${behind})::text::xid8;`,
  )
  await sql.unsafe(`${places.join(' ')} ${elsewhere}`).simple()
}

/** Makes of a database what a copy of its volume is, once another server has started with it. */
export async function startElsewhere(sql: Sql): Promise<void> {
  await sql.unsafe(elsewhere).simple()
}

/**
 * Keeps the tables of the service as they are, as a backup does. What it gives brings them back on another server: all
 * that happened in between is lost.
 */
export async function backUp(sql: Sql): Promise<() => Promise<void>> {
  const rows = await sql<{ table: string }[]>`
    select relname as table from pg_class c
    where relnamespace = current_schema()::regnamespace and relkind = 'r' and relname <> 'migrations'
    -- Those that refer to others come last.
    order by exists (select from pg_constraint where conrelid = c.oid and contype = 'f'), relname
  `
  const tables = rows.map(({ table }) => table)
  const [{ last }] = await sql<[{ last: string }]>`
    select pg_sequence_last_value(pg_get_serial_sequence('events', 'position'))::text as last
  `
  const counter = `select setval(pg_get_serial_sequence('events', 'position'), ${last});`
  await sql.unsafe(tables.map((table) => `create table kept_${table} as table ${table};`).join(' ')).simple()
  return async () => {
    const restored = tables.map((table) => `insert into ${table} overriding system value table kept_${table};`)
    const dropped = tables.map((table) => `drop table kept_${table};`)
    await sql.unsafe([`truncate ${tables.join()};`, ...restored, ...dropped, counter, elsewhere].join(' ')).simple()
  }
}

const elsewhere = `
  update histories set server_started = server_started - interval '1 day';
  update published set compared_on = compared_on - interval '1 day';
`

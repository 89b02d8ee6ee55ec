import type { Sql } from 'postgres'

/** How many rows each table that has any is given, at least. */
export const rowsOfEach = 50_000

/**
 * Multiplies the rows of every table of the schemas, and brings the planner's statistics up to date. A copy has other ids (UUIDs) and
 * hashes (bytes, or base64 of 32 bytes), all changed in the same way, so that copies belong together as the rows do. Other ids stay, and
 * a row that would then be there twice is left out.
 */
export async function fillTables(sql: Sql, schemas: string[]): Promise<void> {
  const tables = await sql<{ schema: string; name: string }[]>`
    select schemaname as schema, tablename as name from pg_tables where schemaname = any(${schemas})
  `
  for (const { schema, name } of tables) {
    const table = sql`${sql(schema)}.${sql(name)}`
    // Twenty rows, which are not the last: behind those, the tail would take the copies of events for new ones.
    await sql`
      with marked as materialized (
        select regexp_replace(
          regexp_replace(
            regexp_replace(
              to_jsonb(t)::text, '([0-9a-f]{8}(-[0-9a-f]{4}){4})[0-9a-f]{8}', '\\1@copy@', 'g'
            ),
            '(\\\\\\\\x)[0-9a-f]{8}', '\\1@copy@', 'g'
          ),
          '"[0-9A-Za-z+/]{8}([0-9A-Za-z+/]{35}=")', '"@copy@\\1', 'g'
        ) as row
        from ${table} t order by ctid limit 20
      ),
      counted as (select row, count(*) over () as number from marked)
      insert into ${table} overriding user value
      select copy.*
      from counted
      cross join lateral generate_series(1, (${rowsOfEach} / number)::int + 1) i
      cross join lateral jsonb_populate_record(null::${table}, replace(row, '@copy@', lpad(to_hex(i), 8, '0'))::jsonb) copy
      on conflict do nothing
    `
    await sql`analyze ${table}`
  }
}

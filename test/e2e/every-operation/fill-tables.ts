import type { Sql } from 'postgres'

/** The number of rows that each table gets, unless it is empty. */
export const rowsOfEach = 20_000

/**
 * Multiplies the rows of every table of the schemas, and tidies up, so that the planner knows them. A copy has other
 * ids, hashes and unique names, all changed in the same way, so that copies belong together as the rows do. A row
 * that would be there twice all the same is left out, such as that of the administrator.
 */
export async function fillTables(sql: Sql, schemas: string[]): Promise<void> {
  const tables = await sql<{ schema: string; name: string }[]>`
    select schemaname as schema, tablename as name from pg_tables where schemaname = any(${schemas})
  `
  for (const { schema, name } of tables) await fill(sql, `"${schema}"."${name}"`)
}

async function fill(sql: Sql, name: string): Promise<void> {
  const table = sql.unsafe(name)
  // Not the last rows: a copy of the last event stands behind it, and the services would take it for a new one.
  const rows = await sql<{ text: string }[]>`
    select to_jsonb(t)::text as text from ${table} t order by ctid
    limit (select least(greatest(count(*) / 2, 1), 20) from ${table})
  `
  const marked = rows.map(({ text }) => mark(text))
  // How many of the rows can be copied is known after the first copies.
  let [number, missing, useful] = [1, rowsOfEach, marked.length]
  while (missing > 0 && useful > 0) {
    const each = Math.ceil(missing / useful)
    const { count } = await sql`
      insert into ${table} overriding user value
      select copy.*
      from unnest(${marked}::text[]) row
      cross join generate_series(${number}::int, ${number + each - 1}::int) i
      cross join lateral jsonb_populate_record(null::${table}, replace(row, '@copy@', lpad(to_hex(i), 8, '0'))::jsonb) copy
      on conflict do nothing
    `
    missing -= count
    number += each
    useful = count / each
  }
  // The planner looks for the ends of an index, and would read the dead rows there.
  await sql`vacuum (analyze) ${table}`
}

// A row as JSON, with marks in the place of values. A mark stands for eight digits of each UUID, of an id of 18 digits, of bytes, of 32
// bytes in base64, of 16 bytes in base64url, and of a name that the tests made up.
function mark(row: string): string {
  return row
    .replaceAll(/([0-9a-f]{8}(-[0-9a-f]{4}){4})[0-9a-f]{8}/g, '$1@copy@')
    .replaceAll(/\b(\d{10})\d{8}\b/g, '$1@copy@')
    .replaceAll(/(\\\\x)[0-9a-f]{8}/g, '$1@copy@')
    .replaceAll(/"[0-9A-Za-z+/]{8}([0-9A-Za-z+/]{35}=")/g, '"@copy@$1')
    .replaceAll(/(-[0-9a-f]{4})[0-9a-f]{8}"/g, '$1@copy@"')
    .replaceAll(/"(?=[\w-]*[a-z])(?=[\w-]*[A-Z])[\w-]{8}([\w-]{14}")(?!:)/g, '"@copy@$1')
}

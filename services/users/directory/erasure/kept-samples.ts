import type { Sql } from '#lib/database/database'

/**
 * The columns of a schema of which PostgreSQL keeps a sample but makes no new one, such as `found_users.exact`.
 * An operator has set their statistics target to 0. Such a sample keeps the names and addresses of removed users in plain.
 */
export async function keptSamples(sql: Sql, schema: string): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    select format('%s.%s', s.tablename, s.attname) as name
    from pg_stats s
    join pg_class c on c.relname = s.tablename
    join pg_namespace n on n.oid = c.relnamespace and n.nspname = s.schemaname
    join pg_attribute a on a.attrelid = c.oid and a.attname = s.attname
    where s.schemaname = ${schema} and a.attstattarget = 0
    order by name
  `
  return rows.map(({ name }) => name)
}

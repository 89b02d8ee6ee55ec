import type { Sql } from '#lib/database/database'

/**
 * Shifts the time of a service by an interval of PostgreSQL, such as '15 minutes', from its true time: a second shift
 * takes the place of the first. `schema`: of the service, where the connection is not its own.
 */
export async function shiftClock(sql: Sql, by: string, schema?: string): Promise<void> {
  const name = schema === undefined ? sql`roster_now` : sql`${sql(schema)}.roster_now`
  const text = `select pg_catalog.now() + interval '${by}'`
  const [{ quoted }] = await sql<[{ quoted: string }]>`select quote_literal(${text}) as quoted`
  await sql`
    create or replace function ${name}() returns timestamptz language sql stable parallel safe as ${sql.unsafe(quoted)}
  `.simple()
}

import type { Aggregate } from '#lib/eventstore/aggregate'
import { toSteps } from '#lib/eventstore/append'
import { callFunction, type Sql } from '#lib/database/database'
import type { Projection, Vocabulary } from '#lib/eventstore/vocabulary'

/** A row of a table, as JSON. */
export type Row = Record<string, unknown>

/**
 * Makes an empty temporary table for each table of the service's own. In this session its name comes before that of the
 * schema, so the service's own `project` writes there.
 */
export async function makeTemporaryTables(sql: Sql, schema: string): Promise<void> {
  const tables = await sql<{ name: string; columns: string }[]>`
    select c.relname as name, concat_ws(', ',
      (
        select string_agg(concat_ws(' ', quote_ident(attname), format_type(atttypid, atttypmod),
            'default ' || pg_get_expr(adbin, adrelid)), ', ' order by attnum)
        from pg_attribute left join pg_attrdef on adrelid = attrelid and adnum = attnum
        where attrelid = c.oid and attnum > 0 and not attisdropped
      ),
      (select string_agg(pg_get_constraintdef(oid), ', ') from pg_constraint where conrelid = c.oid and contype in ('p', 'u'))
    ) as columns
    from pg_class c
    where c.relnamespace = ${schema}::regnamespace and c.relkind = 'r' and c.relname <> all(${ofTheStore})
  `
  await sql.begin('read write', async (transaction) => {
    for (const { name, columns } of tables)
      await transaction.unsafe(
        `create temp table if not exists ${JSON.stringify(name)} (${columns}) on commit delete rows`,
      )
  })
}

// These are read, and no `project` writes there.
const ofTheStore = (
  'migrations events aggregates unique_keys published parked_events parked_for_followers subject_keys sealing ' +
  'audit_chain audit_pages audit_checkpoints audit_keys'
).split(' ')

/** The rows of each projection that the service would have written for these aggregates. */
export async function projectRows(
  sql: Sql,
  { project }: Vocabulary,
  projections: Projection[],
  aggregates: Aggregate[],
): Promise<Map<Projection, Row[]>> {
  const types = new Set(projections.map(({ type }) => type))
  // In the order of their changes: a row may have passed from one aggregate to another.
  const changed = aggregates
    .filter(({ type, state }) => types.has(type) && state !== undefined)
    .sort((one, other) => one.changedAt.getTime() - other.changedAt.getTime())
  const writes = changed.flatMap(
    (after) => project?.({ before: { ...after, sequence: 0, state: undefined }, after }) ?? [],
  )
  return sql.begin(async (transaction) => {
    for (const step of toSteps(writes))
      await (typeof step === 'function' ? step(transaction) : callFunction(transaction, step))
    const rows = new Map<Projection, Row[]>()
    for (const projection of projections) {
      const found = await transaction<{ row: Row }[]>`
        select to_jsonb(v) as row from pg_temp.${transaction(projection.table)} v
      `
      rows.set(
        projection,
        found.map(({ row }) => row),
      )
    }
    return rows
  })
}

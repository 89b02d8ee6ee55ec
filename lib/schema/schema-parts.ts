import { existsSync, readFileSync } from 'node:fs'
import type { Sql, Transaction } from '../database/database.ts'

/** The name of the list of parts, in the folder of a service's migrations. */
export const partsFile = 'schema.txt'

/**
 * The tables, columns, indexes and functions of the present schema, a text for each. Other names than those of the
 * schema are named without their schema, so that every search path gives the same.
 */
export async function readParts(sql: Sql | Transaction): Promise<string[]> {
  const rows = await sql<{ part: string }[]>`
    with tables as (
      select oid, relname as name from pg_class where relnamespace = current_schema()::regnamespace and relkind = 'r'
    ), elsewhere as (
      select coalesce(max(quote_ident(nspname)), '') || '.' as schema
      from pg_extension join pg_namespace n on n.oid = extnamespace where extname = 'pg_trgm'
    )
    select part from (
      select 'table ' || name as part from tables
      union all
      select 'column ' || name || '.' || attname || ' ' || format_type(atttypid, atttypmod)
      from tables join pg_attribute on attrelid = oid where attnum > 0 and not attisdropped
      union all
      select 'index ' || replace(replace(pg_get_indexdef(indexrelid), quote_ident(current_schema()) || '.', ''), schema, '')
      from tables join pg_index on indrelid = oid, elsewhere where indisvalid
      union all
      select 'function ' || proname || '(' || pg_get_function_identity_arguments(oid) || ')'
      from pg_proc where pronamespace = current_schema()::regnamespace
    ) parts order by part collate "C"
  `
  return rows.map(({ part }) => part)
}

/** What the migrations of this folder make, and the present schema does not have. */
export async function missingParts(sql: Sql | Transaction, migrations: URL): Promise<string[]> {
  const file = new URL(partsFile, migrations)
  if (!existsSync(file)) return []
  const there = new Set(await readParts(sql))
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((part) => part !== '' && !there.has(part))
}

/**
 * Indexes that somebody dropped, or that a broken build left, as statements that make them while others write. Throws
 * where something else is missing.
 */
export async function missingIndexes(sql: Sql | Transaction, migrations: URL): Promise<string[]> {
  const missing = await missingParts(sql, migrations)
  const others = missing.filter((part) => !part.startsWith(anIndex))
  if (others.length > 0) throw new Error(`The schema lacks what the migrations make: ${others.join('; ')}`)
  return missing.map((part) => part.slice(anIndex.length).replace(/ INDEX /, ' INDEX CONCURRENTLY IF NOT EXISTS '))
}

const anIndex = 'index '

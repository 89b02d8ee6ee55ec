import type { Sql } from '#lib/eventstore/database'
import type { StoringService } from '../../provision.ts'
import { storeTables } from '../open-schema.ts'
import { models } from '../models.ts'
import { eachBlock } from './each-block.ts'
import { largestValue } from '../reading/page-limits.ts'
import { checkShape, type ShapeCheck } from './shape/check-shape.ts'

/**
 * Whether the tables that `verify` reads are those of the migrations, and have no value that would fill the memory. Calls
 * `alive` after each portion.
 */
export async function checkSource(sql: Sql, service: StoringService, alive: () => void): Promise<ShapeCheck> {
  const { found, isReadable } = await checkShape(sql, service)
  if (!isReadable) return { found, isReadable }
  const large = await largeTables(sql, service, alive)
  const problem = 'a value in it is larger than any of Roster'
  return { found: [...found, ...large.map((row) => ({ service, row, problem }))], isReadable: large.length === 0 }
}

async function largeTables(sql: Sql, service: StoringService, alive: () => void): Promise<string[]> {
  const schema = `roster_${service}`
  const names = [...storeTables, ...(models[service].views ?? []).map(({ table }) => table)]
  const columns = await sql<{ name: string; column: string; isText: boolean }[]>`
    select relname as name, attname as column, atttypid = any(array['text', 'bytea']::regtype[]) as "isText"
    from pg_class c join pg_namespace n on n.oid = relnamespace join pg_attribute a on attrelid = c.oid
    where nspname = ${schema} and relname = any(${names}) and attnum > 0 and not attisdropped and attlen = -1
      and has_table_privilege(c.oid, 'select')
  `
  const large: string[] = []
  for (const [name, some] of Map.groupBy(columns, (column) => column.name)) {
    const isLarge = some
      // A few bytes of JSON may be numbers of 100,000 digits, so the stored size tells nothing.
      .map(({ column, isText }) => `octet_length(${JSON.stringify(column)}${isText ? '' : '::text'}) > ${largestValue}`)
      .join(' or ')
    const look = eachBlock(
      sql,
      schema,
      name,
      (transaction, from, where) => transaction`
        select from ${from} where ${where} and (${transaction.unsafe(isLarge)}) limit 1
      `,
    )
    for await (const { count } of look) {
      alive()
      if (count === 0) continue
      large.push(name)
      break
    }
  }
  return large
}

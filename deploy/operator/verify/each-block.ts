import type { Fragment, Sql, Transaction } from '#lib/eventstore/database'
import { guard } from '../guard.ts'

const byNoIndex = ['indexscan', 'indexonlyscan', 'bitmapscan'].map((way) => `set local enable_${way} = off`)

/** Blocks that a statement looks at, so that none takes long. */
const blocksAtOnce = 8192

/**
 * Looks at all rows of a table as they lie in it, and by no index: an index may lack what somebody put past it. `look`
 * gets the table, which it calls `t`, and the condition of the rows.
 */
export async function* eachBlock<Row>(
  sql: Sql,
  schema: string,
  table: string,
  look: (transaction: Transaction, from: Fragment, where: Fragment) => PromiseLike<Row>,
): AsyncGenerator<Row> {
  const [row] = await sql<[{ blocks: number }]>`
    select (pg_relation_size(c.oid) / current_setting('block_size')::int)::float8 as blocks
    from pg_class c join pg_namespace n on n.oid = relnamespace where nspname = ${schema} and relname = ${table}
  `
  for (let block = 0; block < row.blocks; block += blocksAtOnce)
    yield (await sql.begin('read only', async (transaction) => {
      const from = transaction`${transaction(schema)}.${transaction(table)} t`
      const [first, end] = [`(${block},0)`, `(${block + blocksAtOnce},0)`]
      return look(guard(transaction, ...byNoIndex), from, transaction`t.ctid >= ${first}::tid and t.ctid < ${end}::tid`)
    })) as Row
}

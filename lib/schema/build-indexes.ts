import type { Sql, Transaction } from '../database/database.ts'

const known = /^(?:create (?:unique )?index concurrently if not exists|drop index concurrently if exists) (\w+)(?!\w)/i

/**
 * Makes or drops the indexes of a file `*.concurrently.sql`, while others write to their tables. It may be broken off
 * at any point and begin again. Such an end leaves an invalid index, which is dropped first.
 */
export async function buildIndexes(connection: Sql, text: string): Promise<void> {
  const statements = statementsOf(text)
  const [before] = await connection<[{ timeout: string; path: string }]>`
    select current_setting('statement_timeout') as timeout, current_setting('search_path') as path
  `
  try {
    await connection`set statement_timeout = 0`
    await findOperatorClasses(connection, false)
    for (const { statement, index } of statements) {
      const [broken] = await connection`
        select from pg_index join pg_class c on c.oid = indexrelid
        where relname = ${index} and relnamespace = current_schema()::regnamespace and not indisvalid
      `
      if (broken) await connection`drop index concurrently ${connection(index)}`
      await connection.unsafe(statement)
    }
  } finally {
    // Others use the connection after it. A reset would bring what the role is set to.
    await connection`
      select set_config('statement_timeout', ${before.timeout}, false), set_config('search_path', ${before.path}, false)
    `.catch(() => {})
  }
}

function statementsOf(text: string): { statement: string; index: string }[] {
  const statements = text
    .replaceAll(/^\s*--.*$/gm, '')
    .split(';')
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '')
  return statements.map((statement) => {
    const [, index] = known.exec(statement) ?? []
    if (index === undefined)
      throw new Error(`a file *.concurrently.sql may make and drop indexes alone, by such statements: ${known.source}`)
    return { statement, index }
  })
}

/**
 * Finds the operator classes of these extensions, which migrations name, and which may lie in any schema: for the rest
 * of the transaction, or of the session.
 */
export async function findOperatorClasses(sql: Sql | Transaction, isLocal = true): Promise<void> {
  await sql`
    select set_config('search_path', concat_ws(', ', quote_ident(current_schema()), string_agg(quote_ident(nspname), ', ')), ${isLocal})
    from pg_extension join pg_namespace n on n.oid = extnamespace where extname in ('pg_trgm', 'btree_gin')
  `
}

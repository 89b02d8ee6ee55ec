import type { Sql, Transaction } from './database.ts'

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

import type { ByFunction } from '#lib/database/database'

/** What makes rows for a function of functions.sql, which writes all of a transaction's at once. */
export function rowsFor<Row extends object>(name: string): (row: Row) => ByFunction<Row> {
  const calls: ByFunction<Row>['calls'] = (rows) => [{ name, rows }]
  return (row) => ({ row, calls })
}

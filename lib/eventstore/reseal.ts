import type { Keyring } from '../keys.ts'
import type { Log } from '../log.ts'
import type { Sql } from './database.ts'

/** A column that holds what was sealed for a purpose. */
export interface Sealed {
  purpose: string
  table: string
  column: string
}

/**
 * Seals by the key in use what a former one sealed, so that the former one may go. Any number of replicas may do it at once; a second
 * time does nothing. What no key opens stays as it is.
 */
export async function reseal(sql: Sql, keys: Keyring, log: Log, { purpose, table, column }: Sealed): Promise<void> {
  const rows = await sql<{ sealed: Buffer }[]>`
    select ${sql(column)} as sealed from ${sql(table)}
    where substr(${sql(column)}, 1, 4) <> decode(${keys.currentId}, 'hex')
  `
  for (const { sealed } of rows) {
    let plain: string
    try {
      plain = keys.open(purpose, sealed)
    } catch (error) {
      log.error({ err: error, table }, 'what was sealed with an encryption key that is gone cannot be opened')
      continue
    }
    await sql`update ${sql(table)} set ${sql(column)} = ${keys.seal(purpose, plain)} where ${sql(column)} = ${sealed}`
  }
}

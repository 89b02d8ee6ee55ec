import type { Keyring } from '../keys.ts'
import type { Log } from '../log.ts'
import type { Sql } from './database.ts'

/** A column of values that are encrypted for one purpose. */
export interface Sealed {
  purpose: string
  table: string
  column: string
}

/**
 * Encrypts again, with the key in use, each value that a former key encrypted. Then the former key may be removed.
 * Several replicas may run it at once, and a second run does nothing. A value that no key opens stays as it is.
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

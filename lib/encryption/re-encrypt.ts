import type { Keyring } from './keys.ts'
import type { Log } from '../log.ts'
import type { Sql } from '../database/database.ts'

/** A column of values that are encrypted for one purpose. */
export interface EncryptedColumn {
  purpose: string
  table: string
  column: string
}

/**
 * Encrypts again, with the key in use, each value that a former key encrypted. Then the former key may be removed.
 * Several replicas may run it at once, and a second run does nothing. A value that no key decrypts stays as it is.
 */
export async function reEncrypt(
  sql: Sql,
  keys: Keyring,
  log: Log,
  { purpose, table, column }: EncryptedColumn,
): Promise<void> {
  const rows = await sql<{ encrypted: Buffer }[]>`
    select ${sql(column)} as encrypted from ${sql(table)}
    where substr(${sql(column)}, 1, 4) <> decode(${keys.currentId}, 'hex')
  `
  for (const { encrypted } of rows) {
    let plain: string
    try {
      plain = keys.decrypt(purpose, encrypted)
    } catch (error) {
      log.error({ err: error, table }, 'a value that was encrypted with a key that is gone cannot be decrypted')
      continue
    }
    await sql`update ${sql(table)} set ${sql(column)} = ${keys.encrypt(purpose, plain)} where ${sql(column)} = ${encrypted}`
  }
}

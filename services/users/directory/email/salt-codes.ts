import type { Sql } from '#lib/database/database'
import type { Keyring } from '#lib/encryption/keys'
import { isSalted } from '../secrets/purposes.ts'

/**
 * The keys, which derive and seal codes and one-time secrets with the present salt. The operator changes it to end all of them:
 * no replica may run then.
 */
export async function saltCodes(sql: Sql, keys: Keyring): Promise<Keyring> {
  const [{ salt }] = await sql<[{ salt: string }]>`select salt from code_salt`
  if (salt === '') return keys
  const salted = (purpose: string) => (isSalted(purpose) ? `${purpose} ${salt}` : purpose)
  return {
    ...keys,
    mac: (purpose, id, parts) => keys.mac(purpose, id, isSalted(purpose) ? [...parts, salt] : parts),
    encrypt: (purpose, plain) => keys.encrypt(salted(purpose), plain),
    decrypt: (purpose, encrypted) => keys.decrypt(salted(purpose), encrypted),
  }
}

import type { Statement } from '#lib/database/database'
import type { EncryptedColumn } from '#lib/encryption/re-encrypt'
import type { Keyring } from '#lib/encryption/keys'

/** The table of the providers' secrets: client secrets, and passwords for directories. */
export const encryptedSecrets: EncryptedColumn = {
  purpose: 'idp-client-secret',
  table: 'client_secrets',
  column: 'sealed',
}

/** Stores the secret of a provider, encrypted, in the place of the one before. */
export function storeSecret(keys: Keyring, idpId: string, secret: string): Statement {
  const encrypted = keys.encrypt(encryptedSecrets.purpose, secret)
  return (sql) => sql`
    insert into client_secrets (idp_id, sealed) values (${idpId}, ${encrypted})
    on conflict (idp_id) do update set sealed = excluded.sealed
  `
}

import { orUnavailable, type Statement } from '#lib/database/database'
import type { EncryptedColumn } from '#lib/encryption/re-encrypt'
import type { Keyring } from '#lib/encryption/keys'
import type { Context } from './context.ts'
import type { Configurations, Idp } from './vocabulary.ts'

/** The table of the providers' secrets: client secrets, and passwords for directories. */
export const encryptedSecrets: EncryptedColumn = {
  purpose: 'idp-client-secret',
  table: 'client_secrets',
  column: 'sealed',
}

/** A secret as it is stored. */
export function sealSecret(keys: Keyring, secret: string): Buffer {
  return keys.encrypt(encryptedSecrets.purpose, secret)
}

/** Stores the sealed secret of a provider in the place of the one before. It is for this receiver alone. */
export function storeSecret(idpId: string, sealed: Buffer, receiver: string | undefined): Statement {
  return (sql) => sql`
    insert into client_secrets (idp_id, sealed, receiver) values (${idpId}, ${sealed}, ${receiver ?? null})
    on conflict (idp_id) do update set sealed = excluded.sealed, receiver = excluded.receiver
  `
}

/** Before a record names another receiver: keeps whom its secret was for, where a former release did not. */
export function keepReceiver(idpId: string, receiver: string | undefined): Statement {
  return (sql) =>
    sql`update client_secrets set receiver = ${receiver ?? null} where idp_id = ${idpId} and receiver is null`
}

/**
 * Who gets the secret of a provider, or the tokens of people that it buys. Otherwise who may change the record could have
 * them sent to a server of theirs, and read what no answer shows.
 */
export function receiverOf(settings: Partial<Configurations>): string | undefined {
  const { oidc, oauth, ldap } = settings
  return oidc?.issuer ?? (oauth && `${oauth.tokenEndpoint} ${oauth.userEndpoint}`) ?? ldap?.servers.join(' ')
}

/** Opens the secret of a provider. `fault`: why it may not or cannot be used. */
export async function openSecret({ sql, keys }: Pick<Context, 'sql' | 'keys'>, idpId: string, idp: Idp) {
  const [row] = await orUnavailable(sql<{ sealed: Buffer; receiver: string | null }[]>`
    select sealed, receiver from client_secrets where idp_id = ${idpId}
  `)
  if (!row) return { fault: 'There is no client secret: set it.' }
  if (row.receiver !== null && row.receiver !== receiverOf(idp))
    return { fault: 'The client secret was given for another address, and goes to no other: set it anew.' }
  try {
    return { secret: keys.decrypt(encryptedSecrets.purpose, row.sealed) }
  } catch {
    return { fault: 'The client secret cannot be decrypted, as its key is gone: set it anew.' }
  }
}

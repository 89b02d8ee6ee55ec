import { createHmac, randomBytes } from 'node:crypto'
import { v7 as uuid } from 'uuid'
import type { Write } from '#lib/database/database'
import type { EncryptedColumn } from '#lib/encryption/re-encrypt'
import type { Keyring } from '#lib/encryption/keys'

const prefix = 'whsec_'
const encryptedFor = 'webhook-secret'

/** Where `reEncrypt` finds the secrets. */
export const encryptedSecrets: EncryptedColumn = { purpose: encryptedFor, table: 'webhook_secrets', column: 'sealed' }

/** Makes a secret in the form of Standard Webhooks, and the write that stores it as the one in use. */
export function newSecret(keys: Keyring, webhookId: string): { secret: string; store: Write } {
  const secret = prefix + randomBytes(32).toString('base64')
  const encrypted = keys.encrypt(encryptedFor, secret)
  return {
    secret,
    store: (sql) => sql`
      insert into webhook_secrets (webhook_id, secret_id, sealed) values (${webhookId}, ${uuid()}, ${encrypted})
    `,
  }
}

/** Makes the secret in use the former one, valid until that time, and deletes the former one of before. */
export function retireSecret(webhookId: string, until: Date): Write {
  // One statement: the writes after this one are already on their way, so a second statement would come too late.
  return (sql) => sql`
    with gone as (delete from webhook_secrets where webhook_id = ${webhookId} and expires_at is not null)
    update webhook_secrets set expires_at = ${until} where webhook_id = ${webhookId} and expires_at is null
  `
}

/** Returns the `webhook-signature` header of Standard Webhooks: a signature by each of the encrypted secrets. */
export function sign(keys: Keyring, encrypted: Buffer[], id: string, timestamp: number, body: string): string {
  return encrypted
    .map((one) => Buffer.from(keys.decrypt(encryptedFor, one).slice(prefix.length), 'base64'))
    .map((key) => `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`)
    .join(' ')
}

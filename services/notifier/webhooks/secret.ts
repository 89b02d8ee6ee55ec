import { createHmac, randomBytes } from 'node:crypto'
import { v7 as uuid } from 'uuid'
import type { Write } from '#lib/eventstore/database'
import type { Sealed } from '#lib/eventstore/re-encrypt'
import type { Keyring } from '#lib/keys'

const prefix = 'whsec_'
const sealedFor = 'webhook-secret'

/** Tells `reseal` where the secrets are. */
export const sealedSecrets: Sealed = { purpose: sealedFor, table: 'webhook_secrets', column: 'sealed' }

/** Makes a secret in the form of Standard Webhooks, and the write that stores it as the one in use. */
export function newSecret(keys: Keyring, webhookId: string): { secret: string; store: Write } {
  const secret = prefix + randomBytes(32).toString('base64')
  const sealed = keys.seal(sealedFor, secret)
  return {
    secret,
    store: (sql) => sql`
      insert into webhook_secrets (webhook_id, secret_id, sealed) values (${webhookId}, ${uuid()}, ${sealed})
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

/** Returns the `webhook-signature` header of Standard Webhooks: a signature by each of the sealed secrets. */
export function sign(keys: Keyring, sealed: Buffer[], id: string, timestamp: number, body: string): string {
  return sealed
    .map((one) => Buffer.from(keys.open(sealedFor, one).slice(prefix.length), 'base64'))
    .map((key) => `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`)
    .join(' ')
}

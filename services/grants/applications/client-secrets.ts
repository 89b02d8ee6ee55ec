import { hashToken } from '#lib/credentials/token-text'
import type { Write } from '#lib/database/database'

/** Stores a secret of an application by its hash alone. */
export function storeClientSecret(secret: string, secretId: string, applicationId: string): Write {
  return (sql) => sql`
    insert into application_secrets (secret_id, application_id, hash)
    values (${secretId}, ${applicationId}, ${hashToken(secret)})
  `
}

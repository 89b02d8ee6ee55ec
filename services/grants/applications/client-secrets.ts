import { hashToken } from '#lib/credentials/token-text'
import type { Write } from '#lib/database/database'
import { RosterError } from '#lib/errors'
import { type Application, type ClientSecret, livingSecrets, proofOf } from '../vocabulary/application.ts'

/** Stores a secret of an application by its hash alone. */
export function storeClientSecret(secret: string, secretId: string, applicationId: string): Write {
  return (sql) => sql`
    insert into application_secrets (secret_id, application_id, hash)
    values (${secretId}, ${applicationId}, ${hashToken(secret)})
  `
}

/** FAILED_PRECONDITION AUTH_METHOD_WITHOUT_SECRET. */
export function refuseWithoutSecret(application: Application): void {
  if (proofOf(application) !== 'secret')
    throw new RosterError(
      'FAILED_PRECONDITION',
      'AUTH_METHOD_WITHOUT_SECRET',
      'The application proves who it is without a secret.',
    )
}

/** The secret, unless it has expired. NOT_FOUND CREDENTIAL_NOT_FOUND. */
export function livingSecret(application: Application, secretId: string, now: Date): ClientSecret {
  const secret = livingSecrets(application, now).find((known) => known.secretId === secretId)
  if (!secret) throw new RosterError('NOT_FOUND', 'CREDENTIAL_NOT_FOUND', 'The application has no such secret.')
  return secret
}

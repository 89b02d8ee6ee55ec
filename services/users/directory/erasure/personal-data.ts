import { encryptedPart } from '#lib/encryption/encrypted-fields'
import { codeMailType } from '../events/code-mail.ts'
import { noticeType } from '../events/notice.ts'
import { passwordCodeType } from '../events/password-code.ts'
import { signInType } from '../events/sign-in.ts'
import { signInCodeType } from '../events/sign-in-code.ts'

/** The types of the aggregates that have a user's id and are about that user. */
export const partTypes = ['user', codeMailType, noticeType, passwordCodeType, signInType, signInCodeType]

/** The tables whose rows about a user go in the transaction that removes the user. */
export const deletedWithUser = [
  'passwords',
  'known_addresses',
  'login_addresses',
  'unsent_mails',
  'failed_sign_ins',
  'sign_in_records',
  'sign_in_failures',
  'browser_sessions',
  'known_browsers',
  'half_done_sessions',
  'consents',
  'authorization_requests',
  'secrets',
  'totp_secrets',
  'recovery_codes',
  'factor_guesses',
  'passkeys',
  'user_factors',
  'invitations',
  'authorizations',
  'surplus_authorizations',
  'provider_sessions',
]

/** The tables with a `user_id` of a person: also those whose rows a projection or a background job takes away. */
export const tablesOfUsers = [
  ...deletedWithUser,
  'found_users',
  'found_addresses',
  'tokens',
  'unsent_email_codes',
  'surplus_sessions',
]

/** The tables that have rows about a user, in plain, and the column with the user's id. */
export const personalTables: Record<string, string> = {
  ...Object.fromEntries(tablesOfUsers.map((table) => [table, 'user_id'])),
  unique_keys: 'aggregate_id',
  subject_keys: 'subject_id',
}

/**
 * Whether the stored state of an aggregate identifies its user without a key. The plain state of a removed user has a
 * single field. Of the other aggregates, codes may have a link.
 */
export function identifiesUser(type: string, state: Record<string, unknown>): boolean {
  if (encryptedPart(state) !== undefined) return false
  return type === 'user' ? !state['removed'] || state['former'] !== undefined : state['urlTemplate'] !== undefined
}

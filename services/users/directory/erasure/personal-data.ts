import { encryptedPart } from '#lib/encryption/encrypted-fields'
import { codeMailType } from '../events/code-mail.ts'
import { noticeType } from '../events/notice.ts'
import { passwordCodeType } from '../events/password-code.ts'
import { signInType } from '../events/sign-in.ts'

/** The types of the aggregates that have a user's id and are about that user. */
export const partTypes = ['user', codeMailType, noticeType, passwordCodeType, signInType]

/** The tables that have rows about a user, in plain, and the column with the user's id. */
export const personalTables = {
  found_users: 'user_id',
  found_addresses: 'user_id',
  passwords: 'user_id',
  tokens: 'user_id',
  known_addresses: 'user_id',
  login_addresses: 'user_id',
  failed_sign_ins: 'user_id',
  unsent_mails: 'user_id',
  unsent_email_codes: 'user_id',
  browser_sessions: 'user_id',
  consents: 'user_id',
  authorization_requests: 'user_id',
  authorizations: 'user_id',
  surplus_authorizations: 'user_id',
  secrets: 'user_id',
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

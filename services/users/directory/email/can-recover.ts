import type { Config } from '../../config.ts'
import type { Human } from '../events/human.ts'

/**
 * Whether the address of a human may get a code for a new password. It is verified, and not changed of late, unless
 * another user with permission verified it. The owner of the former address so has time to act.
 */
export function canRecover(
  { isVerified, emailVouched, emailSince }: Human,
  { PASSWORD_RESET_AFTER_EMAIL_CHANGE: wait }: Pick<Config, 'PASSWORD_RESET_AFTER_EMAIL_CHANGE'>,
  now: Date,
): boolean {
  if (!isVerified) return false
  return emailVouched === true || emailSince === undefined || now.getTime() - Date.parse(emailSince) >= wait * 1000
}

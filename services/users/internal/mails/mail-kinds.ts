import { MailKind } from '#gen/roster/users/v1/internal_service'
import type { KindOfMail } from '../../directory/email/mail-kind.ts'
import { factorMails } from '../../directory/email/factor-mails.ts'
import { noticeMail } from '../../directory/email/notice.ts'
import { verificationMail } from '../../directory/email/verification-mail.ts'
import { passwordChangedMail } from '../../pages/recovery/password-changed-mail.ts'
import { domainLostMail, domainUnverifiedMail } from '../../directory/organizations/domain-mails.ts'
import { resetMail } from '../../directory/passwords/reset-mail.ts'
import { removalMail } from '../../directory/operations/user/removal-mail.ts'
import { signInMail } from '../../sessions/browsers/sign-in-mail.ts'
import { signInCodeMail } from '../../sessions/factors/mailed-code/mail.ts'
import { otpEmailMail } from '../../sessions/factors/otp-email/mail.ts'
import { passkeyLinkMail } from '../../sessions/passkeys/link.ts'
import {
  passkeyAddedMail,
  passkeyRemovedMail,
  passkeyRenamedMail,
  providerLinkedMail,
} from '../../sessions/passkeys/mail.ts'
import { invitationMail } from '../../pages/invitation/invitation-mail.ts'
import { registrationMail } from '../../pages/registration/registration-mail.ts'

const kinds: Record<Exclude<MailKind, MailKind.UNRECOGNIZED>, KindOfMail> = {
  // Notifiers of earlier versions mean that.
  [MailKind.MAIL_KIND_UNSPECIFIED]: verificationMail,
  [MailKind.MAIL_KIND_EMAIL_CODE]: verificationMail,
  [MailKind.MAIL_KIND_PASSWORD_RESET]: resetMail,
  [MailKind.MAIL_KIND_EMAIL_CHANGED]: noticeMail,
  [MailKind.MAIL_KIND_EMAIL_CHANGED_TAKE_BACK]: noticeMail,
  [MailKind.MAIL_KIND_PASSWORD_CHANGED]: passwordChangedMail,
  [MailKind.MAIL_KIND_NEW_SIGN_IN]: signInMail,
  [MailKind.MAIL_KIND_ACCOUNT_REMOVED]: removalMail,
  [MailKind.MAIL_KIND_REGISTRATION]: registrationMail,
  // These go out in place of that one.
  [MailKind.MAIL_KIND_ALREADY_REGISTERED]: registrationMail,
  [MailKind.MAIL_KIND_ALREADY_REGISTERED_BY_CODE]: registrationMail,
  [MailKind.MAIL_KIND_OTP_EMAIL]: otpEmailMail,
  [MailKind.MAIL_KIND_OTP_EMAIL_LINK]: otpEmailMail,
  [MailKind.MAIL_KIND_SIGN_IN_CODE]: signInCodeMail,
  [MailKind.MAIL_KIND_SIGN_IN_CODE_LINK]: signInCodeMail,
  [MailKind.MAIL_KIND_PASSKEY_ADDED]: passkeyAddedMail,
  [MailKind.MAIL_KIND_PASSKEY_RENAMED]: passkeyRenamedMail,
  [MailKind.MAIL_KIND_PASSKEY_REMOVED]: passkeyRemovedMail,
  [MailKind.MAIL_KIND_PROVIDER_LINKED]: providerLinkedMail,
  [MailKind.MAIL_KIND_PASSKEY_LINK]: passkeyLinkMail,
  [MailKind.MAIL_KIND_INVITATION]: invitationMail,
  [MailKind.MAIL_KIND_DOMAIN_LOST]: domainLostMail,
  [MailKind.MAIL_KIND_DOMAIN_UNVERIFIED]: domainUnverifiedMail,
  [MailKind.MAIL_KIND_FACTOR_ADDED]: factorMails['factor-added'],
  [MailKind.MAIL_KIND_FACTOR_REMOVED]: factorMails['factor-removed'],
  [MailKind.MAIL_KIND_RECOVERY_CODES_MADE]: factorMails['recovery-codes-made'],
  [MailKind.MAIL_KIND_RECOVERY_CODE_USED]: factorMails['recovery-code-used'],
  [MailKind.MAIL_KIND_FACTOR_GUESSED]: factorMails['factor-guessed'],
}

/** The kind of this number. No mail of the one that stands for an unknown number is found. */
export function kindOf(number: MailKind): KindOfMail {
  return number in kinds ? kinds[number as keyof typeof kinds] : verificationMail
}

/** The number of each kind, by the name in its rows. */
export const numbers = Object.fromEntries(Object.values(kinds).map(({ name, number }) => [name, number]))

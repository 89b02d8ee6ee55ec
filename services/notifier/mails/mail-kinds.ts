import { MailKind } from '#gen/roster/users/v1/internal_service'

interface KindOfMail {
  /** Of its files, jobs and announcements. */
  name: string
  /** What its text must show, beside the greeting. It may show the host, and nothing else. */
  shows: readonly (
    | 'host'
    | 'code'
    | 'url'
    | 'validFor'
    | 'changedAt'
    | 'inviter'
    | 'application'
    | 'message'
    | 'domains'
    | 'providers'
  )[]
  /** A stranger asks for it, who has proved nothing, and may have written the name for another stranger. */
  ofStrangers?: true
}

const ofCodes = ['code', 'url', 'validFor'] as const

const ofFactors = ['host', 'changedAt', 'url'] as const

const kinds = {
  [MailKind.MAIL_KIND_EMAIL_CODE]: { name: 'email-code', shows: ofCodes },
  [MailKind.MAIL_KIND_PASSWORD_RESET]: { name: 'password-reset', shows: ofCodes },
  [MailKind.MAIL_KIND_EMAIL_CHANGED]: { name: 'email-changed', shows: ['host', 'changedAt'] },
  [MailKind.MAIL_KIND_EMAIL_CHANGED_TAKE_BACK]: {
    name: 'email-changed-take-back',
    shows: ['host', 'changedAt', 'url', 'validFor'],
  },
  [MailKind.MAIL_KIND_PASSWORD_CHANGED]: { name: 'password-changed', shows: ['host', 'changedAt', 'url'] },
  [MailKind.MAIL_KIND_NEW_SIGN_IN]: { name: 'new-sign-in', shows: ['host', 'changedAt', 'url'] },
  [MailKind.MAIL_KIND_ACCOUNT_REMOVED]: { name: 'account-removed', shows: ['host', 'changedAt'] },
  // It is entered where it was asked for, so there is no link.
  [MailKind.MAIL_KIND_REGISTRATION]: { name: 'registration', shows: ['code', 'validFor'], ofStrangers: true },
  [MailKind.MAIL_KIND_ALREADY_REGISTERED]: { name: 'already-registered', shows: ['host', 'url'] },
  [MailKind.MAIL_KIND_ALREADY_REGISTERED_BY_CODE]: { name: 'already-registered-by-code', shows: ['host'] },
  [MailKind.MAIL_KIND_OTP_EMAIL]: { name: 'otp-email', shows: ['code', 'validFor'] },
  [MailKind.MAIL_KIND_OTP_EMAIL_LINK]: { name: 'otp-email-link', shows: ofCodes },
  // A stranger may ask for it, and has not typed the name that stands in it.
  [MailKind.MAIL_KIND_SIGN_IN_CODE]: { name: 'sign-in-code', shows: ['code', 'validFor'] },
  [MailKind.MAIL_KIND_SIGN_IN_CODE_LINK]: { name: 'sign-in-code-link', shows: ofCodes },
  [MailKind.MAIL_KIND_PASSKEY_ADDED]: { name: 'passkey-added', shows: ['host', 'changedAt', 'url'] },
  [MailKind.MAIL_KIND_PASSKEY_RENAMED]: { name: 'passkey-renamed', shows: ['host', 'changedAt', 'url'] },
  [MailKind.MAIL_KIND_PASSKEY_REMOVED]: { name: 'passkey-removed', shows: ['host', 'changedAt', 'url'] },
  [MailKind.MAIL_KIND_PROVIDER_LINKED]: { name: 'provider-linked', shows: ['host', 'changedAt', 'url'] },
  [MailKind.MAIL_KIND_PASSKEY_LINK]: { name: 'passkey-link', shows: ['code', 'url', 'validFor'] },
  [MailKind.MAIL_KIND_INVITATION]: {
    name: 'invitation',
    shows: [...ofCodes, 'inviter', 'application', 'providers', 'message'],
  },
  [MailKind.MAIL_KIND_DOMAIN_LOST]: { name: 'domain-lost', shows: ['host', 'domains', 'validFor'] },
  [MailKind.MAIL_KIND_DOMAIN_UNVERIFIED]: { name: 'domain-unverified', shows: ['host', 'domains'] },
  [MailKind.MAIL_KIND_FACTOR_ADDED]: { name: 'factor-added', shows: ofFactors },
  [MailKind.MAIL_KIND_FACTOR_REMOVED]: { name: 'factor-removed', shows: ofFactors },
  [MailKind.MAIL_KIND_RECOVERY_CODES_MADE]: { name: 'recovery-codes-made', shows: ofFactors },
  [MailKind.MAIL_KIND_RECOVERY_CODE_USED]: { name: 'recovery-code-used', shows: ofFactors },
  [MailKind.MAIL_KIND_FACTOR_GUESSED]: { name: 'factor-guessed', shows: ofFactors },
} as const satisfies Record<Exclude<MailKind, MailKind.MAIL_KIND_UNSPECIFIED | MailKind.UNRECOGNIZED>, KindOfMail>

/** The mails that there are, each with a file of its name in every language. */
export const mailNames = Object.values(kinds).map(({ name }) => name)

export type MailName = (typeof mailNames)[number]

/** The name of a kind that users numbers. */
export function nameOf(number: MailKind): MailName {
  return number in kinds ? kinds[number as keyof typeof kinds].name : 'email-code'
}

/** The kind of this name. Older jobs have none. Throws at that of a later version, whose job waits for one of that. */
export function kindOf(name: MailName = 'email-code'): KindOfMail & { number: MailKind } {
  const found = Object.entries<KindOfMail>(kinds).find(([, kind]) => kind.name === name)
  if (!found) throw new Error('mails of this kind are not known')
  return { ...found[1], number: Number(found[0]) as MailKind }
}

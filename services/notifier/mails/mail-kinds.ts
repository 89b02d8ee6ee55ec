import { MailKind as Kind } from '#gen/roster/users/v1/internal_service'
import type { MailKind } from './templates.ts'

/** The kind of a mail, as users names it. */
export function kindOf(kind: Kind): MailKind {
  const found = Object.entries(numbers).find(([, number]) => number === kind)
  return (found?.[0] ?? 'email-code') as MailKind
}

/** The name that users has for a kind. Older jobs have none. */
export function numberOf(kind: MailKind = 'email-code'): Kind {
  return numbers[kind]
}

const numbers: Record<MailKind, Kind> = {
  'email-code': Kind.MAIL_KIND_EMAIL_CODE,
  'password-reset': Kind.MAIL_KIND_PASSWORD_RESET,
  'email-changed': Kind.MAIL_KIND_EMAIL_CHANGED,
  registration: Kind.MAIL_KIND_REGISTRATION,
  'already-registered': Kind.MAIL_KIND_ALREADY_REGISTERED,
}

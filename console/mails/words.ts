import type { NotifierMailState } from '#gen/console/api'
import { texts } from '../texts/texts.ts'

const t = texts(
  {
    queued: 'queued',
    deferred: 'retrying',
    accepted: 'accepted',
    refused: 'refused',
    expired: 'given up',
    superseded: 'no longer needed',
    bounced: 'bounced',
    emailCode: 'Verify the address',
    passwordReset: 'New password',
    emailChanged: 'The address has changed',
    otpEmail: 'Code to sign in',
    invitation: 'Invitation',
  },
  {
    queued: 'wartet',
    deferred: 'wird wiederholt',
    accepted: 'angenommen',
    refused: 'abgelehnt',
    expired: 'aufgegeben',
    superseded: 'nicht mehr nötig',
    bounced: 'kam zurück',
    emailCode: 'Adresse bestätigen',
    passwordReset: 'Neues Passwort',
    emailChanged: 'Die Adresse hat sich geändert',
    otpEmail: 'Code zum Anmelden',
    invitation: 'Einladung',
  },
)

export const mailStates: Partial<Record<NotifierMailState, { text: string; tone: string }>> = {
  MAIL_STATE_QUEUED: { text: t.queued, tone: '' },
  MAIL_STATE_DEFERRED: { text: t.deferred, tone: 'warn' },
  MAIL_STATE_ACCEPTED: { text: t.accepted, tone: 'good' },
  MAIL_STATE_REFUSED: { text: t.refused, tone: 'bad' },
  MAIL_STATE_EXPIRED: { text: t.expired, tone: 'bad' },
  MAIL_STATE_SUPERSEDED: { text: t.superseded, tone: '' },
  MAIL_STATE_BOUNCED: { text: t.bounced, tone: 'bad' },
}

/** Kinds that have a name here. The others show their own. */
export const mailKinds: Record<string, string> = {
  'email-code': t.emailCode,
  'password-reset': t.passwordReset,
  'email-changed': t.emailChanged,
  'otp-email': t.otpEmail,
  invitation: t.invitation,
}

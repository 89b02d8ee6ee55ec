import { maxWrongTries } from '../events/code.ts'

/** How many tries of one there are, and how many a user may have at a time. */
export interface Bounds {
  tries: number
  ofUser: number
}

interface Facts {
  /**
   * Six symbols that a person types (email/code.ts), a text that carries its record (secret.ts), readably or `sealed`, a
   * cookie, or a random secret in its row alone, whose codes a person types.
   */
  form: 'code' | 'text' | 'sealed' | 'cookie' | 'row'
  /** Its rows in the table `secrets`: those of one-time-codes.ts with these bounds, or of statements of their own. */
  rows?: Bounds | 'own'
}

/** What a restore brings back has to end, by the salt or with its row. So there is no other kind. */
type EndsAtRestore = Facts & ({ salted: true } | { salted: false; rows: Bounds | 'own' })

/**
 * What one-time secrets are for, all of them: only these are made. Each has a key of its own that is derived from this name,
 * so that no secret is good for another purpose, and so that no name may change. Beside its time, each is ended by the
 * operator's new salt (`salted`), and the rows of all are deleted then. The comments say what else ends it.
 */
export const purposes = {
  // Its use, five wrong tries, the next one, another address. One that invites a user, as invitation: also a password.
  'email-code': { form: 'code', salted: true },
  // Its use, five wrong tries, the next one, another address or password.
  'password-code': { form: 'code', salted: true },
  // Its use, five tries, the next one of its request, the end of that.
  'registration-code': { form: 'code', salted: true, rows: 'own' },
  // Its use, five wrong tries, the next one, the end of its invitation.
  'invitation-code': { form: 'code', salted: true },
  // Its use, five tries, the next one for the same, the removal of its user.
  'otp-email': { form: 'code', salted: true, rows: { tries: maxWrongTries, ofUser: 10 } },
  // Its use, five tries, the next one of its sign-in, another address, the removal of its user. So many that a stranger, who
  // gets few mailed, pushes out no other's.
  'sign-in-code': { form: 'code', salted: true, rows: { tries: maxWrongTries, ofUser: 100 } },
  // The secret of an authenticator app that is set up: its use, ten wrong tries, the next one of who sets it up.
  'totp-setup': { form: 'row', salted: true, rows: { tries: 10, ofUser: 10 } },
  // A code for tokens that is stored: its use, the end of its authorization.
  'secret-code': { form: 'text', salted: true, rows: 'own' },
  // A code for tokens that carries all: its use, which creates its authorization, and the end of what that would stand on.
  'sealed-code': { form: 'sealed', salted: true },
  // The form of a page: the end of its request or browser.
  'secret-form': { form: 'text', salted: true },
  // The challenge of a passkey: its use, five minutes, another browser, session or request.
  'secret-passkey': { form: 'text', salted: true },
  // Its use, five tries, the next one of an administrator or of the same login application, another address, the removal of
  // its user.
  'passkey-link': { form: 'code', salted: true, rows: { tries: maxWrongTries, ofUser: 10 } },
  // The next value of its browser. A browser that is brought back never gets a value that it had.
  'browser-value': { form: 'cookie', salted: true },
  // In the link to a former address: its use, that of an earlier one.
  'secret-take-back': { form: 'text', salted: true },
  // The use of its successor, the end of its authorization.
  'secret-refresh-token': { form: 'text', salted: true },
} as const satisfies Record<string, EndsAtRestore>

type Purpose = keyof typeof purposes

/** The purposes that have these facts. */
export type PurposesWith<Some> = { [P in Purpose]: (typeof purposes)[P] extends Some ? P : never }[Purpose]

/** Whether a new salt ends what is derived for this purpose. Other MACs hide what is looked up by them, and stay. */
export function isSalted(purpose: string): boolean {
  return Object.hasOwn(purposes, purpose) && purposes[purpose as Purpose].salted
}

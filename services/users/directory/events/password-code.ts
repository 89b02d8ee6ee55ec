import type { AggregateKey } from '#lib/eventstore/aggregate'
import { type Code, isAlive, type NewCode } from './code.ts'
import { type Human, type SecondFactorKind, withinAnHour } from './human.ts'

/**
 * The aggregate of the codes that renew a forgotten password, by the user's id. Strangers ask for such codes, and try
 * wrong ones. It is apart from the user, so that they change neither the user nor its ETag.
 */
export const passwordCodeType = 'user.password.code'

/** The events of these codes. A code that was used is known by `password.changed` or `passkey.added` of the user. */
export type PasswordCodeEvent =
  | { type: 'requested'; payload: NewPasswordCode & { urlTemplate?: string } }
  | { type: 'returned'; payload: NewPasswordCode }
  | { type: 'rejected'; payload: { codeId: string } }
  /** Beside the right code, a second factor was right, or wrong: a passkey may take the place of a new password. */
  | { type: 'factor.checked' | 'factor.rejected'; payload: { codeId: string; kind: SecondFactorKind } }
  | { type: 'sent'; payload: { codeId: string } }
  | { type: 'failed'; payload: { codeId: string; failure: string } }

/** The facts of a code. `round` binds it to the password and the address of its time. */
export type NewPasswordCode = NewCode & { round: number }

/** The last code of a user. */
export interface PasswordCode extends Code {
  round: number
  /** When codes were requested to be mailed, RFC 3339; only those of the last hour. */
  requests: string[]
}

/** Names the code of a user. */
export function passwordCodeKey(userId: string): AggregateKey<PasswordCode> {
  return { type: passwordCodeType, id: userId }
}

/** The last code after an event. */
export function evolvePasswordCode(code: PasswordCode | undefined, event: PasswordCodeEvent, at: Date): PasswordCode {
  const requests = withinAnHour(code?.requests ?? [], at)
  if (event.type === 'requested')
    return { ...event.payload, delivery: 'pending', wrongTries: 0, requests: [...requests, at.toISOString()] }
  if (event.type === 'returned') return { ...event.payload, delivery: 'returned', wrongTries: 0, requests }
  if (code === undefined) throw new Error(`the first event of a code is ${event.type}`)
  if (code.codeId !== event.payload.codeId) return code
  if (event.type === 'factor.checked' || event.type === 'factor.rejected') return code
  return event.type === 'rejected' ? { ...code, wrongTries: code.wrongTries + 1 } : { ...code, delivery: event.type }
}

/** The revision of today. Each change of the password or the address, and each use of a code begins another one. */
export function revisionOf({ passwordChanges = 0, emailChanges = 0, passkeyRecoveries = 0 }: Human): number {
  return passwordChanges + emailChanges + passkeyRecoveries
}

export function canRenew(code: PasswordCode | undefined, human: Human, now: Date): code is PasswordCode {
  return isAlive(code, now) && code.round === revisionOf(human)
}

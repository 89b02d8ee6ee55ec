import type { AccessTokenType, Gender } from '#gen/roster/users/v1/user'
import { RosterError } from '#lib/errors'

/** What can happen to a user. */
export type UserEvent =
  | { type: 'human.added'; payload: { userName: string; profile: Profile; email: string; isVerified: boolean } }
  | { type: 'machine.added'; payload: { userName: string } & Machine }
  | { type: 'token.added'; payload: { tokenId: string } }
  | { type: 'profile.changed'; payload: Profile }
  | { type: 'email.changed'; payload: { email: string; isVerified: boolean } }
  /** `codeId`: verified with this code; without it by somebody who may. */
  | { type: 'email.verified'; payload: { codeId?: string } }
  /** A code that is to be mailed. */
  | { type: 'email.code.requested'; payload: NewCode & { urlTemplate?: string; cause: CodeCause } }
  /** A code that the caller was given. */
  | { type: 'email.code.returned'; payload: NewCode }
  /** Somebody tried another code. */
  | { type: 'email.code.rejected'; payload: { codeId: string } }
  | { type: 'email.code.sent'; payload: { codeId: string } }
  | { type: 'email.code.failed'; payload: { codeId: string; failure: string } }
  | { type: 'deactivated'; payload: {} }
  | { type: 'reactivated'; payload: {} }
  | { type: 'locked'; payload: {} }
  | { type: 'unlocked'; payload: {} }
  | { type: 'removed'; payload: {} }

/** Why a code is mailed; `own-change` and `resend` are counted. */
export type CodeCause = 'creation' | 'change' | 'own-change' | 'resend'

export interface Profile {
  firstName: string
  lastName: string
  nickName?: string
  displayName: string
  preferredLanguage: string
  gender: Gender
}

export interface Machine {
  name: string
  description: string
  accessTokenType: AccessTokenType
}

/** All but the code itself, which is derived from this, the user and the address. */
export interface NewCode {
  codeId: string
  keyId: string
  /** RFC 3339. */
  expiresAt: string
}

export interface Code extends NewCode {
  /** `returned`: the caller has it. Otherwise how its mail goes. */
  delivery: 'returned' | 'pending' | 'sent' | 'failed'
  urlTemplate?: string
  wrongTries: number
}

export interface Human {
  profile: Profile
  email: string
  isVerified: boolean
  code?: Code
  /** When codes were mailed that count, RFC 3339; only those of the last hour. */
  ownChanges: string[]
  resends: string[]
}

export interface User {
  userName: string
  human?: Human
  machine?: Machine
  /** Deactivated. */
  inactive?: true
  locked?: true
  /** The id is taken for good, and nothing else is kept. */
  removed?: true
}

/** A code dies of so many wrong tries. */
export const maxWrongTries = 5

/** The user after an event. */
export function evolveUser(user: User | undefined, event: UserEvent, at: Date): User {
  if (event.type === 'human.added') {
    const { userName, profile, email, isVerified } = event.payload
    return { userName, human: { profile, email, isVerified, ownChanges: [], resends: [] } }
  }
  if (event.type === 'machine.added') {
    const { userName, ...machine } = event.payload
    return { userName, machine }
  }
  if (user === undefined) throw new Error(`a user begins with ${event.type}`)
  const change = stateChanges[event.type]
  if (change) return change(user)
  return user.human ? { ...user, human: evolveHuman(user.human, event, at) } : user
}

const stateChanges: Partial<Record<UserEvent['type'], (user: User) => User>> = {
  deactivated: (user) => ({ ...user, inactive: true }),
  reactivated: (user) => ({ ...user, inactive: undefined }),
  locked: (user) => ({ ...user, locked: true }),
  unlocked: (user) => ({ ...user, locked: undefined }),
  removed: () => ({ userName: '', removed: true }),
}

function evolveHuman(human: Human, event: UserEvent, at: Date): Human {
  switch (event.type) {
    case 'profile.changed':
      return { ...human, profile: event.payload }
    case 'email.changed':
      return { ...human, ...event.payload, code: undefined }
    case 'email.verified':
      return { ...human, isVerified: true, code: undefined }
    case 'email.code.requested': {
      const { cause, ...code } = event.payload
      const next: Human = { ...human, code: { ...code, delivery: 'pending', wrongTries: 0 } }
      if (cause === 'own-change')
        return { ...next, ownChanges: [...withinAnHour(human.ownChanges, at), at.toISOString()] }
      if (cause === 'resend') return { ...next, resends: [...withinAnHour(human.resends, at), at.toISOString()] }
      return next
    }
    case 'email.code.returned':
      return { ...human, code: { ...event.payload, delivery: 'returned', wrongTries: 0 } }
    case 'email.code.rejected':
      return withCode(human, event.payload.codeId, (code) => ({ ...code, wrongTries: code.wrongTries + 1 }))
    case 'email.code.sent':
      return withCode(human, event.payload.codeId, (code) => ({ ...code, delivery: 'sent' }))
    case 'email.code.failed':
      return withCode(human, event.payload.codeId, (code) => ({ ...code, delivery: 'failed' }))
    default:
      return human
  }
}

function withCode(human: Human, codeId: string, change: (code: Code) => Code): Human {
  return human.code?.codeId === codeId ? { ...human, code: change(human.code) } : human
}

/** Those of the times (RFC 3339) that are less than an hour old. */
export function withinAnHour(times: string[], now: Date): string[] {
  return times.filter((time) => Date.parse(time) > now.getTime() - 3_600_000)
}

/** Whether the code can still verify. */
export function isAlive(code: Code | undefined, now: Date): code is Code {
  return code !== undefined && code.wrongTries < maxWrongTries && Date.parse(code.expiresAt) > now.getTime()
}

/** What can happen to a session. */
export type SessionEvent =
  | { type: 'created'; payload: { userId: string; expiresAt: string } }
  | { type: 'ended'; payload: { userId: string } }

export interface Session {
  userId: string
  expiresAt: string
  ended: boolean
}

/** The session after an event. */
export function evolveSession(session: Session | undefined, event: SessionEvent): Session {
  if (event.type === 'created') return { ...event.payload, ended: false }
  if (session === undefined) throw new Error(`a session begins with ${event.type}`)
  return { ...session, ended: true }
}

/** The answer where no such user is, or it is none that the operation is for. */
export function userNotFound(): RosterError {
  return new RosterError('NOT_FOUND', 'USER_NOT_FOUND', 'There is no such user.')
}

/** The human of an aggregate. NOT_FOUND USER_NOT_FOUND for a machine and where there is none. */
export function humanOf(user: User | undefined): Human {
  if (!user?.human) throw userNotFound()
  return user.human
}

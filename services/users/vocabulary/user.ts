import type { AccessTokenType, Gender } from '#gen/roster/users/v1/user'
import { RosterError } from '#lib/errors'

/** What can happen to a user. */
export type UserEvent =
  | { type: 'human.added'; payload: { userName: string; profile: Profile; email: string; isVerified: boolean } }
  | { type: 'machine.added'; payload: { userName: string } & Machine }
  /** A personal access token of the time before `pat.added`. */
  | { type: 'token.added'; payload: { tokenId: string } }
  | { type: 'pat.added'; payload: { tokenId: string; expiresAt?: string } }
  | { type: 'pat.removed'; payload: { tokenId: string } }
  | { type: 'key.added'; payload: { keyId: string; algorithm: string; publicKey: PublicKey; expiresAt?: string } }
  | { type: 'key.removed'; payload: { keyId: string } }
  | { type: 'secret.added'; payload: { secretId: string; expiresAt?: string } }
  | { type: 'secret.removed'; payload: { secretId: string } }
  | { type: 'machine.dpop.changed'; payload: { required: boolean } }
  /** The warning, once, some time before the end of a credential. */
  | { type: 'credential.expiring'; payload: { kind: CredentialKind; credentialId: string; expiresAt: string } }
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

/** What a machine may sign in with: a personal access token, a key or a secret. */
export type CredentialKind = 'pat' | 'key' | 'secret'

export interface Credential {
  id: string
  /** RFC 3339, both. Without an end it lives until it is removed. */
  createdAt: string
  expiresAt?: string
  /** The warning before its end was given. */
  warned?: true
}

export interface MachineKey extends Credential {
  /** As in JOSE: `RS256`, `ES256` or `EdDSA`. */
  algorithm: string
  publicKey: PublicKey
}

/** A JWK (RFC 7517) with its public members alone. */
export interface PublicKey {
  kty: string
  n?: string
  e?: string
  crv?: string
  x?: string
  y?: string
}

/** What a machine has, also what has expired since the last one of the kind was added. */
export interface Credentials {
  pat: Credential[]
  key: MachineKey[]
  secret: Credential[]
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
  machine?: Machine & { dpopRequired?: boolean; credentials?: Credentials }
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
  if (user.human) return { ...user, human: evolveHuman(user.human, event, at) }
  if (!user.machine) return user
  if (event.type === 'machine.dpop.changed')
    return { ...user, machine: { ...user.machine, dpopRequired: event.payload.required } }
  const before = credentialsOf(user)
  const credentials = evolveCredentials(before, event, at)
  return credentials === before ? user : { ...user, machine: { ...user.machine, credentials } }
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

function evolveCredentials(credentials: Credentials, event: UserEvent, at: Date): Credentials {
  // Those that have expired are forgotten, so that a machine does not grow.
  const including = <Kind extends CredentialKind>(kind: Kind, added: Omit<Credentials[Kind][number], 'createdAt'>) => ({
    ...credentials,
    [kind]: [...living<Credential>(credentials[kind], at), { ...added, createdAt: at.toISOString() }],
  })
  const without = (kind: CredentialKind, id: string) => ({
    ...credentials,
    [kind]: credentials[kind].filter((credential) => credential.id !== id),
  })
  switch (event.type) {
    case 'token.added':
    case 'pat.added': {
      const { tokenId: id, ...rest } = event.payload
      return including('pat', { id, ...rest })
    }
    case 'key.added': {
      const { keyId: id, ...rest } = event.payload
      return including('key', { id, ...rest })
    }
    case 'secret.added': {
      const { secretId: id, ...rest } = event.payload
      return including('secret', { id, ...rest })
    }
    case 'pat.removed':
      return without('pat', event.payload.tokenId)
    case 'key.removed':
      return without('key', event.payload.keyId)
    case 'secret.removed':
      return without('secret', event.payload.secretId)
    case 'credential.expiring': {
      const { kind, credentialId } = event.payload
      const warned = credentials[kind].map((known) => (known.id === credentialId ? { ...known, warned: true } : known))
      return { ...credentials, [kind]: warned }
    }
    default:
      return credentials
  }
}

/** Those that have not expired. */
export function living<Kind extends Credential>(credentials: Kind[], now: Date): Kind[] {
  return credentials.filter(({ expiresAt }) => expiresAt === undefined || Date.parse(expiresAt) > now.getTime())
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

/**
 * What a machine may sign in with. NOT_FOUND USER_NOT_FOUND where there is no user, FAILED_PRECONDITION NOT_A_MACHINE for a human.
 */
export function machineCredentials(user: User | undefined): Credentials {
  if (user?.human) throw new RosterError('FAILED_PRECONDITION', 'NOT_A_MACHINE', 'Only a machine has credentials.')
  if (!user?.machine) throw userNotFound()
  return credentialsOf(user)
}

/** What a user may sign in with, other than a password: nothing for a human and where there is no user. */
export function credentialsOf(user: User | undefined): Credentials {
  return user?.machine?.credentials ?? noCredentials
}

const noCredentials: Credentials = { pat: [], key: [], secret: [] }

import type { AggregateKey } from '#lib/eventstore/aggregate'
import { RosterError } from '#lib/errors'
import { type Credentials, noCredentials } from './credentials.ts'
import { evolveHuman, type Human, type HumanEvent, withoutTrust } from './human.ts'
import { evolveMachine, type Machine, type MachineEvent } from './machine.ts'
import { countSignOut, type SignOuts } from './sign-outs.ts'
import { userNotFound } from './user-not-found.ts'

export type UserEvent =
  | HumanEvent
  | MachineEvent
  | StateEvent
  | { type: 'username.changed'; payload: { userName: string } }

type StateEvent =
  | { type: 'deactivated'; payload: {} }
  | { type: 'reactivated'; payload: {} }
  /** `wrongPasswords`: so many locked it. Missing: somebody did. */
  | { type: 'locked'; payload: { wrongPasswords?: number } }
  | { type: 'unlocked'; payload: {} }
  /** All sessions and authorizations ended. */
  | { type: 'signed.out'; payload: {} }
  /** `forgetAt`: until then the removal can be undone. Missing: the user is erased at once. */
  | { type: 'removed'; payload: { forgetAt?: string } }
  | { type: 'restored'; payload: {} }
  | { type: 'forgotten'; payload: {} }

export interface User extends SignOuts {
  userName: string
  /** Roster made the user name, for a person who registered. */
  nameIsMade?: true | undefined
  human?: Human
  machine?: Machine
  /** Deactivated. */
  inactive?: true | undefined
  locked?: true | undefined
  /** Nothing else is kept but `former`, and the id stays taken for good. */
  removed?: true
  /** The user before a removal that can be undone until `forgetAt`. Everything else takes the user for removed. */
  former?: User
  forgetAt?: string
}

/** Names a user. */
export function userKey(id: string): AggregateKey<User> {
  return { type: 'user', id }
}

const gone: User = { userName: '', removed: true }

export function evolveUser(user: User | undefined, event: UserEvent, at: Date): User {
  if (event.type === 'human.added') {
    const { userName, profile, email, isVerified, codeId, setBy, passwordChangeRequired } = event.payload
    const human = {
      profile,
      email,
      isVerified,
      ...(setBy && { emailSetBy: setBy }),
      ...(passwordChangeRequired && { passwordMustChange: passwordChangeRequired }),
      ownChanges: [],
      resends: [],
    }
    return { userName, ...(codeId !== undefined && { nameIsMade: true }), human }
  }
  if (event.type === 'machine.added') {
    const { userName, ...machine } = event.payload
    return { userName, machine }
  }
  // Also of an unreadable user.
  if (event.type === 'removed' && event.payload.forgetAt === undefined) return gone
  if (event.type === 'forgotten') return gone
  if (user === undefined) throw new Error(`a user begins with ${event.type}`)
  switch (event.type) {
    case 'deactivated':
      return { ...user, inactive: true, ...signedOut(user) }
    case 'reactivated':
      return { ...user, inactive: undefined }
    case 'locked':
      return { ...user, locked: true, ...signedOut(user) }
    case 'unlocked':
      return { ...user, locked: undefined }
    case 'signed.out':
      return { ...user, ...signedOut(user) }
    case 'username.changed':
      return { ...user, ...event.payload, ...(user.nameIsMade && { nameIsMade: undefined }) }
    case 'removed':
      return { ...gone, forgetAt: event.payload.forgetAt!, former: user }
    case 'restored':
      return user.former ? { ...user.former, ...signedOut(user.former) } : user
  }
  if (user.human) {
    const human = evolveHuman(user.human, event as HumanEvent, at)
    return { ...user, human, ...(event.type === 'password.changed' && countSignOut(user, event.payload.keptSessionId)) }
  }
  if (!user.machine) return user
  const machine = evolveMachine(user.machine, event as MachineEvent, at)
  return machine === user.machine ? user : { ...user, machine }
}

// Browsers are trusted no more, either.
function signedOut(user: User): Partial<User> {
  return { ...countSignOut(user), ...(user.human?.trustedBrowsers && { human: withoutTrust(user.human) }) }
}

/** The name that a user is known by: the address of a person whose user name Roster made. */
export function knownName({ userName, nameIsMade, human }: Pick<User, 'userName' | 'nameIsMade' | 'human'>): string {
  return nameIsMade && human ? human.email : userName
}

/** The human of an aggregate. NOT_FOUND USER_NOT_FOUND for a machine and where there is none. */
export function humanOf(user: User | undefined): Human {
  if (!user?.human) throw userNotFound()
  return user.human
}

/** Which password of a human it is: a number that every change raises. */
export function passwordOf(user: User | undefined): number {
  return user?.human?.passwordChanges ?? 0
}

/**
 * The credentials of a machine. NOT_FOUND USER_NOT_FOUND where there is no user, FAILED_PRECONDITION NOT_A_MACHINE for
 * a human.
 */
export function machineCredentials(user: User | undefined): Credentials {
  if (user?.human) throw new RosterError('FAILED_PRECONDITION', 'NOT_A_MACHINE', 'Only a machine has credentials.')
  if (!user?.machine) throw userNotFound()
  return credentialsOf(user)
}

/**
 * The credentials of a user other than a password: none for a human and where there is no user. A user who can be
 * restored still has them, though no one can sign in with them.
 */
export function credentialsOf(user: User | undefined): Credentials {
  return (user?.former ?? user)?.machine?.credentials ?? noCredentials
}

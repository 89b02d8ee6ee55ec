import type { Human } from '../../directory/events/human.ts'
import type { OfDomain } from '../../directory/events/passkeys.ts'
import type { User } from '../../directory/events/user.ts'
import type { FactorKind } from '../events/session.ts'
import { factorKinds, hasSecondFactor } from './kinds.ts'

/** Of second factors of which one suffices, those that a user can prove now. None where a first factor is missing. */
export function provable(kinds: readonly FactorKind[], user: User, policy: OfDomain): FactorKind[] {
  if (!areSecond(kinds)) return []
  return kinds.filter((kind) => factorKinds[kind].second?.isReady(user, policy))
}

/**
 * The kind that a page asks for, of those of which one suffices: the one that the person chose, else the first that the
 * person can prove, else one that is set up in the sign-in.
 */
export function askedFirst(
  kinds: readonly FactorKind[],
  user: User,
  policy: OfDomain,
  chosen?: FactorKind,
): FactorKind {
  // The page of a first factor asks for each of them.
  if (!areSecond(kinds)) return kinds[0]!
  const ready = provable(kinds, user, policy)
  if (chosen && ready.includes(chosen)) return chosen
  const settable = kinds.find((kind) => factorKinds[kind].second?.isSetUpInSignIn)
  if (chosen && chosen === settable && maySetUp(kinds, user.human)) return chosen
  if (ready.length > 0) return ready[0]!
  return (maySetUp(kinds, user.human) ? settable : undefined) ?? kinds.find((kind) => kind === 'otp-email') ?? kinds[0]!
}

/** Whether these are second factors. A passkey in place of a password is none. */
export function areSecond(kinds: readonly FactorKind[]): boolean {
  return kinds.every((kind) => factorKinds[kind].second)
}

/**
 * Whether a person sets one of these up in the sign-in that demands it: with no second factor of their own, no passkey, and a
 * password that no mailed code set. Else the password, or the mailbox, would be enough to get in.
 */
export function maySetUp(kinds: readonly FactorKind[], human: Human | undefined): boolean {
  const isSettable = kinds.some((kind) => factorKinds[kind].second?.isSetUpInSignIn)
  const hasOne = hasSecondFactor(human) || kinds.includes('passkey')
  return isSettable && human !== undefined && !hasOne && !human.passwordByMail
}

/**
 * Likewise a passkey or a security key, at a login application: no page of Roster sets one up in a sign-in. One that a browser
 * made without asking, and nobody has used, is none that the person has.
 */
export function maySetUpPasskey(
  kinds: readonly FactorKind[],
  human: Human | undefined,
  { allowPasskeys, secondFactors }: { allowPasskeys: boolean; secondFactors: readonly FactorKind[] },
): boolean {
  if (!human || !allowPasskeys || !secondFactors.includes('passkey') || !areSecond(kinds)) return false
  return (
    !hasSecondFactor(human) && !human.passwordByMail && (human.passkeys ?? []).every(({ conditional }) => conditional)
  )
}

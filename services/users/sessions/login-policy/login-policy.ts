import type { Brand, KeepSignedIn } from '../events/login-policy.ts'
import type { Factor, FactorKind, Session } from '../events/session.ts'
import type { SecondFactorKind } from '../../directory/events/human.ts'
import { factorKinds, firstFactors, isWayOut, secondFactors } from '../factors/kinds.ts'

export interface CheckedFactor {
  kind: FactorKind
  at: Date
}

/** What an organization demands of those who sign in, and allows them. */
export interface LoginPolicy {
  factors: readonly FactorKind[]
  /** Everybody needs a second factor. */
  forceMfa: boolean
  /** Those that serve as one. */
  secondFactors: readonly FactorKind[]
  /** People may register themselves. */
  allowRegister: boolean
  /** A request without a token gets no code for a forgotten password. */
  hidePasswordReset: boolean
  /** People are told by mail of a sign-in in a browser that they did not use before. */
  tellOfSignIns: boolean
  /** Where a page leads to that knows no better way. Empty: nowhere. */
  defaultRedirectUri: string
  /** Seconds from the check of a password until it is asked for again. */
  passwordCheckLifetime: number
  /** Likewise, of a person who stays signed in. */
  keptCheckLifetime: number
  keepSignedIn: KeepSignedIn
  /** Links at the foot of pages. Empty: none. */
  tosLink: string
  privacyPolicyLink: string
  helpLink: string
  /** How pages look. Missing: as Roster. */
  brand?: Brand
}

export const defaultPolicy: LoginPolicy = {
  factors: ['password'],
  forceMfa: false,
  secondFactors,
  allowRegister: false,
  hidePasswordReset: false,
  tellOfSignIns: true,
  defaultRedirectUri: '',
  passwordCheckLifetime: Infinity,
  keptCheckLifetime: Infinity,
  keepSignedIn: 'off',
  tosLink: '',
  privacyPolicyLink: '',
  helpLink: '',
}

/** Seconds from the check of a password until it is asked for again. */
export function checkLifetime(policy: LoginPolicy, isKept: boolean): number {
  return isKept && policy.keepSignedIn !== 'off' ? policy.keptCheckLifetime : policy.passwordCheckLifetime
}

/**
 * What is still to be checked, in the order in which pages ask: of each list, one kind suffices. A user with second
 * factors of their own is asked for one of them, whatever the policy.
 */
export function missingFactors(
  policy: Pick<LoginPolicy, 'factors' | 'forceMfa' | 'secondFactors'>,
  own: readonly SecondFactorKind[],
  checked: readonly Pick<CheckedFactor, 'kind'>[],
): FactorKind[][] {
  const isChecked = (kind: FactorKind) => checked.some((factor) => factor.kind === kind)
  const first = policy.factors.filter((kind) => !isChecked(kind)).map((kind) => [kind])
  const second = askedSecondFactors(policy, own)
  // Another one than these does not count: who set up an app is not to be passed by the mailbox.
  return second.length === 0 || second.some(isChecked) ? first : [...first, second]
}

/** The second factors of which one is asked for; none: nothing is. */
export function askedSecondFactors(
  { forceMfa, secondFactors: allowed }: Pick<LoginPolicy, 'forceMfa' | 'secondFactors'>,
  own: readonly SecondFactorKind[],
): FactorKind[] {
  const isAllowed = (kind: FactorKind) => allowed.includes(kind)
  // Recovery codes stand for another factor alone.
  const serving = (kinds: readonly FactorKind[]) => (kinds.every(isWayOut) ? [] : kinds)
  const usable = serving(own.filter(isAllowed))
  const found = usable.length > 0 ? usable : forceMfa ? allowed.filter((kind) => !isWayOut(kind)) : serving(own)
  return orderOfPages.filter((kind) => found.includes(kind))
}

const orderOfPages = Object.keys(factorKinds) as FactorKind[]

/** What was checked of a session. One of a former release began with its password. */
export function checkedFactors({ factors }: Pick<Session, 'factors'>): Factor[] {
  return factors ?? [{ kind: 'password', at: '' }]
}

export function lastFirstFactor(factors: readonly CheckedFactor[]): Date | undefined {
  const times = factors.filter(({ kind }) => firstFactors.includes(kind)).map(({ at }) => at.getTime())
  return times.length > 0 ? new Date(Math.max(...times)) : undefined
}

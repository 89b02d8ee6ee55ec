import type { FactorKind } from '../../sessions/events/session.ts'
import { areSecond } from '../../sessions/factors/asked-first.ts'
import { isFirst } from '../../sessions/factors/kinds.ts'
import {
  askedSecondFactors,
  type Counting,
  countsAsTwo,
  type LoginPolicy,
  provesAgain,
} from '../../sessions/login-policy/login-policy.ts'
import { type AcrValue, acrValues, type AskedContext } from '../acr.ts'
import type { Facts } from './facts.ts'

const [ofOne, ofTwo, ofPasskey] = acrValues

/** What a person needs to come to a context. */
export interface ContextLack {
  what: 'factor' | 'fresh-factor'
  kinds: readonly FactorKind[]
  acr: AcrValue
  /** The application is answered without it, too, or with another one that it takes. */
  maySkip: boolean
}

/** A context that the application needs, and the person cannot come to. */
export interface UnmetContext {
  what: 'unmet-context'
}

/**
 * Two kinds; or a passkey whose authenticator made sure of the person, which is something they have and know or are. A
 * password beside a mailed code is one: the policy changed in between, and a mailed code may have set that password.
 */
export function isMultiple(factors: readonly Counting[], policy: Pick<LoginPolicy, 'providers'>): boolean {
  // What a provider has asked for is another password, unless its record says what counts for two.
  if (factors.some((factor) => countsAsTwo(policy, factor))) return true
  const asPassword: FactorKind[] = ['mailed-code', 'provider']
  const kinds = new Set(factors.map(({ kind }) => (asPassword.includes(kind) ? 'password' : kind)))
  return kinds.size > 1 || factors.some(({ userVerified }) => userVerified)
}

/** The highest context that factors come to. Where the policy allows no passkeys, these count as second factors alone. */
export function contextOf(
  factors: readonly Counting[],
  { allowPasskeys, providers }: Pick<LoginPolicy, 'allowPasskeys' | 'providers'>,
): AcrValue {
  const counted = factors.filter(({ kind, second }) => allowPasskeys || kind !== 'passkey' || second)
  if (allowPasskeys && counted.some(({ kind, userVerified }) => kind === 'passkey' && userVerified)) return ofPasskey
  return isMultiple(counted, { providers }) ? ofTwo : ofOne
}

function satisfies(reached: AcrValue, wanted: AcrValue): boolean {
  return acrValues.indexOf(reached) >= acrValues.indexOf(wanted)
}

/** The context that tokens name: of those that were asked for the first that is satisfied, else what was done. */
export function namedContext(reached: AcrValue, asked: AskedContext | undefined): AcrValue {
  return asked?.values.find((value) => satisfies(reached, value)) ?? reached
}

/**
 * What is missing of the context that is asked for: of those that the person can come to, or has come to, the one that the
 * application likes best. What the person passed over is left out, unless nothing else does. `silently`: no page can ask.
 */
export function contextLack(
  { user, policy }: Pick<Facts, 'policy'> & { user: NonNullable<Facts['user']> },
  { asked, passedOver, silently }: { asked: AskedContext; passedOver: readonly string[]; silently: boolean },
  factors: readonly Counting[],
): ContextLack | UnmetContext | undefined {
  const { values, isEssential } = asked
  const reached = contextOf(factors, policy)
  const steps = values.map((value) => ({
    value,
    isReached: satisfies(reached, value),
    kinds: kindsFor(value, { user, policy }, { factors, isEssential }),
  }))
  const possible = steps.filter(({ isReached, kinds }) => isReached || kinds.length > 0)
  if (possible.length === 0) return isEssential ? { what: 'unmet-context' } : undefined
  const isAnyReached = possible.some(({ isReached }) => isReached)
  if (silently) return isAnyReached || !isEssential ? undefined : { what: 'unmet-context' }
  const left = possible.filter(({ value, isReached }) => isReached || !passedOver.includes(value))
  const target = left[0] ?? (isEssential ? possible[0] : undefined)
  if (!target || target.isReached) return undefined
  return {
    // Two factors are a further one. A passkey that makes sure of the person is asked for in place of all.
    what: target.value === ofPasskey ? 'fresh-factor' : 'factor',
    kinds: target.kinds,
    acr: target.value,
    maySkip: !isEssential || left.length > 1,
  }
}

// Of these one suffices; none: the person cannot come to it.
function kindsFor(
  value: AcrValue,
  { user, policy }: Pick<Facts, 'policy'> & { user: NonNullable<Facts['user']> },
  { factors, isEssential }: { factors: readonly Counting[]; isEssential: boolean },
): readonly FactorKind[] {
  const { prove, setUp, usePasskey } = user.can ?? nothing
  if (value === ofOne) return []
  if (value === ofPasskey) return policy.allowPasskeys && usePasskey ? ['passkey'] : []
  const own = { demanded: user.secondFactors, further: user.furtherFactors ?? [] }
  // As where the policy demands one.
  const kinds = askedSecondFactors({ ...policy, forceMfa: true }, own).filter(
    (kind) => !provesAgain(policy, kind) && !factors.some((factor) => factor.kind === kind && isFirst(factor)),
  )
  const canProve = kinds.some((kind) => prove.includes(kind))
  // Who has none sets one up, where the application insists.
  const canSetUp = isEssential && !kinds.includes('passkey') && kinds.some((kind) => setUp.includes(kind))
  return areSecond(kinds) && (canProve || canSetUp) ? kinds : []
}

const nothing: NonNullable<NonNullable<Facts['user']>['can']> = { prove: [], setUp: [], usePasskey: false }

import type { ByFunction } from '#lib/database/database'
import { RosterError } from '#lib/errors'
import { canonicalName } from '#lib/search/canonical-name'
import type { Context } from '../../context.ts'
import { meantName } from '../meant-name.ts'
import {
  endOfWaits,
  isUsedUp,
  type NamedRateLimit,
  networkOf,
  rateLimitsFor,
  returningToBuckets,
  returnToBuckets,
  takeFromBuckets,
} from './token-buckets.ts'

/** A counted attempt to sign in. */
export interface Attempt {
  /** Takes the attempt back, since it succeeded. */
  takeBack(): Promise<void>
  /** The same, beside the events of what it succeeded in. */
  takingBack: ByFunction
  /**
   * Takes the attempt back where its password was not checked. It still counts for its address, because too many
   * attempts from there are the reason.
   */
  takeBackGuess(): Promise<void>
}

/** The user that an attempt is for, and its address. */
export interface CountedAttempt {
  loginName: string
  /** The user that the name means; undefined where it means none. */
  userId: string | undefined
  /** As the gateway gives it: an address of IPv4, or a /64 of IPv6. */
  address: string
  /** The user has signed in from this address before. */
  isKnown: boolean
}

/**
 * The rate limits of sign-in, against brute force; no account is locked out. Counts an attempt to sign in before its password is checked, so that simultaneous
 * attempts count too. Every spelling of a name counts alike, and every name of a user, whether the user exists or not.
 * RESOURCE_EXHAUSTED SIGN_IN_THROTTLED with the seconds to wait; then nothing was counted. docs/decisions/11-sign-in.md
 * explains the numbers.
 */
export async function countAttempt(
  { sql, keys }: Pick<Context, 'sql' | 'keys'>,
  tried: CountedAttempt,
): Promise<Attempt> {
  const named = limitsOf(tried)
  const limits = rateLimitsFor(keys, named)
  const retryAfter = await takeFromBuckets(sql, limits)
  if (retryAfter !== undefined)
    throw new RosterError('RESOURCE_EXHAUSTED', 'SIGN_IN_THROTTLED', 'There were too many attempts to sign in.', {
      retryAfter,
    })
  const ofGuess = limits.filter((_, index) => !['address', 'network'].includes(named[index]!.name[0]!))
  return {
    takeBack: () => returnToBuckets(sql, limits),
    takingBack: returningToBuckets({ limits }),
    takeBackGuess: () => returnToBuckets(sql, ofGuess),
  }
}

/**
 * Until when a user has to wait where wrong passwords came from: at the latest of these addresses. Undefined: nowhere.
 * Nothing is counted. UNAVAILABLE STORE_UNAVAILABLE.
 */
export async function endOfThrottle(context: Pick<Context, 'sql' | 'keys'>, userId: string): Promise<Date | undefined> {
  const isAttacked = await isUsedUp(context, meterOf(['user', userId]))
  return endOfWaits(context, [['always', userId], ...(isAttacked ? [['metered', userId]] : [])])
}

function limitsOf({ loginName, userId, address, isKnown }: CountedAttempt): NamedRateLimit[] {
  // At a known address, attempts of other callers do not count against the user.
  if (userId !== undefined && isKnown)
    return [{ name: ['known', userId, address], most: 5, pause: 30, kind: 'always', owner: ['always', userId] }]
  const network = networkOf(address)
  const limits: NamedRateLimit[] = [{ name: ['address', address], most: 100, pause: 3, kind: 'always' }]
  if (network !== undefined) limits.push({ name: ['network', network], most: 1000, pause: 0.3, kind: 'always' })
  return [...limits, ...subjectsOf(loginName, userId).flatMap((subject) => limitsOfSubject(subject, address, network))]
}

function limitsOfSubject(subject: string[], address: string, network: string | undefined): NamedRateLimit[] {
  const userId = subject[0] === 'user' ? subject[1] : undefined
  const owned = (kind: 'always' | 'metered') => ({ kind, ...(userId !== undefined && { owner: [kind, userId] }) })
  const limits: NamedRateLimit[] = [
    { name: ['pair', ...subject, address], most: 5, pause: 60, ...owned('always') },
    meterOf(subject),
    { name: ['attacked pair', ...subject, address], most: 10, pause: 900, ...owned('metered') },
  ]
  if (network !== undefined)
    limits.push({ name: ['network pair', ...subject, network], most: 64, pause: 10, ...owned('always') })
  return limits
}

// Where one name gets more than a hundred attempts an hour, a caller who failed ten times waits longer. No one else does.
function meterOf(subject: string[]): NamedRateLimit {
  return { name: ['subject', ...subject], most: 100, pause: 36, kind: 'meter' }
}

// The part before the first @, which is the same for the bare and the qualified name of a user; and the user, who may
// have names with other parts. Of a name that means no user the second is the whole of it, so that it has as many limits.
function subjectsOf(loginName: string, userId: string | undefined): string[][] {
  const name = canonicalName(meantName(loginName))
  return [[name.split('@', 1)[0]!], userId === undefined ? ['name', name] : ['user', userId]]
}

import { RosterError } from '#lib/errors'
import { canonicalName } from '#lib/canonical-name'
import type { Context } from '../context.ts'
import { giveTurnsBack, limitsFor, type NamedLimit, networkOf, takeTurns } from './turns.ts'

/** An attempt to sign in that was counted. */
export interface Attempt {
  /** Takes it back: it succeeded. */
  takeBack(): Promise<void>
  /** Takes it back where its password was not looked at. It still counts for its address: too many of them are why. */
  takeBackGuess(): Promise<void>
}

/** Who tries, and where. */
export interface Attempted {
  loginName: string
  /** As the gateway tells it: an address of IPv4, or a /64 of IPv6. */
  address: string
  /** The user, where this user has signed in from this address before. */
  knownUserId: string | undefined
}

/**
 * Counts an attempt to sign in before its password is looked at, so that attempts at one time count too. Every spelling of a name
 * counts alike, whether there is such a user or not. RESOURCE_EXHAUSTED SIGN_IN_THROTTLED with the seconds to wait; then nothing
 * was counted. The numbers are explained in docs/decisions/11-sign-in.md.
 */
export async function countAttempt({ sql, keys }: Pick<Context, 'sql' | 'keys'>, tried: Attempted): Promise<Attempt> {
  const named = limitsOf(tried)
  const limits = limitsFor(keys, named)
  const retryAfter = await takeTurns(sql, limits)
  if (retryAfter !== undefined)
    throw new RosterError('RESOURCE_EXHAUSTED', 'SIGN_IN_THROTTLED', 'There were too many attempts to sign in.', {
      retryAfter,
    })
  const ofGuess = limits.filter((_, index) => !['address', 'network'].includes(named[index]!.name[0]!))
  return { takeBack: () => giveTurnsBack(sql, limits), takeBackGuess: () => giveTurnsBack(sql, ofGuess) }
}

function limitsOf({ loginName, address, knownUserId }: Attempted): NamedLimit[] {
  // What others do, at whatever address, has no part in this.
  if (knownUserId !== undefined) return [{ name: ['known', knownUserId, address], most: 5, pause: 30, kind: 'always' }]
  const [subject, network] = [subjectOf(loginName), networkOf(address)]
  const limits: NamedLimit[] = [
    { name: ['address', address], most: 100, pause: 3, kind: 'always' },
    { name: ['pair', subject, address], most: 5, pause: 60, kind: 'always' },
    // More than a hundred an hour for one name: who failed ten times has to wait longer, and nobody else has.
    { name: ['subject', subject], most: 100, pause: 36, kind: 'meter' },
    { name: ['attacked pair', subject, address], most: 10, pause: 900, kind: 'metered' },
  ]
  if (network !== undefined)
    limits.push(
      { name: ['network', network], most: 1000, pause: 0.3, kind: 'always' },
      { name: ['network pair', subject, network], most: 64, pause: 10, kind: 'always' },
    )
  return limits
}

// What precedes the first @: the same for every login name of a user, bare or qualified, and told without looking for the user.
function subjectOf(loginName: string): string {
  return canonicalName(loginName).split('@', 1)[0]!
}

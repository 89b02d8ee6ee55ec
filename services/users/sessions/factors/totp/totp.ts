import { RosterError } from '#lib/errors'
import type { User } from '../../../directory/events/user.ts'
import type { Factor } from '../factor.ts'
import { codeInvalid, findGuesser, passing, refuseGuess, usesOfGuesses } from '../guesses.ts'
import { hasFactor } from '../kinds.ts'
import { stepOf } from './codes.ts'
import { findTotpSecret, usingUpStep } from './secrets.ts'

export const kind = 'totp'
const field = 'totpCode'

/**
 * The code of an authenticator app. INVALID_ARGUMENT CODE_INVALID; FAILED_PRECONDITION FACTOR_NOT_AVAILABLE, FACTOR_LOCKED;
 * RESOURCE_EXHAUSTED FACTOR_THROTTLED; NOT_FOUND SESSION_NOT_FOUND.
 */
export const totp: Factor = {
  async check(context, { find, text, session }, call) {
    const user = await find?.()
    if (!user || !session || !hasFactor(user.state.human, kind)) throw notSetUp()
    const { userId, state } = user
    const [guesser, found] = await Promise.all([
      findGuesser(context, kind, { userId, browserId: session.browserId }),
      findTotpSecret(context, userId),
    ])
    const step = found && stepOf(found.secret, text, found.now)
    if (step === undefined || step <= found!.lastStep)
      return refuseGuess(context, guesser, { user, session, field }, call)
    const { write, guard } = usingUpStep(userId, step, codeInvalid(field))
    const passed = passing(context, guesser, session.browserId)
    const added = addedOf(state)
    return {
      kind,
      user,
      // Another app may have taken its place.
      holds: (now) => hasFactor(now?.human, kind) && addedOf(now) === added,
      writes: [write, ...passed.writes],
      guards: [guard, passed.guard],
      uses: passed.uses,
    }
  },
  uses: (context, { userId }) => usesOfGuesses(context, { kind, userId, browserId: '' }),
}

function addedOf(user: User | undefined): number | undefined {
  return user?.human?.factorsAdded?.totp
}

/** The factor is none of this user, or the session has no first factor yet. */
export function notSetUp(): RosterError {
  return new RosterError('FAILED_PRECONDITION', 'FACTOR_NOT_AVAILABLE', 'The user has not set up this factor.')
}

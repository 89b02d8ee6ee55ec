import { RosterError } from '#lib/errors'
import { deriveCode, matchesCode } from '../../../directory/email/code.ts'
import { mailUses } from '../../../directory/email/mail-uses.ts'
import { whyMailProvesNothing } from '../../../directory/events/human.ts'
import type { User } from '../../../directory/events/user.ts'
import { countTry, usingUpCode } from '../../../directory/secrets/one-time-codes.ts'
import type { Factor } from '../factor.ts'
import { codeInvalid, findGuesser, passing, refuseGuess, usesOfGuesses } from '../guesses.ts'

export const kind = 'otp-email'
const field = 'otpEmailCode'

/**
 * A code by mail. INVALID_ARGUMENT CODE_INVALID; FAILED_PRECONDITION FACTOR_NOT_AVAILABLE, FACTOR_LOCKED;
 * RESOURCE_EXHAUSTED FACTOR_THROTTLED; NOT_FOUND SESSION_NOT_FOUND.
 */
export const otpEmail: Factor = {
  async check(context, { find, text, session }, call) {
    const user = await find?.()
    if (!user || !session) throw notAvailable()
    refuseUnavailable(user.state)
    const { userId, state } = user
    const guesser = await findGuesser(context, kind, { userId, browserId: session.browserId })
    const code = await countTry(context, kind, { userId, purpose: session.id, browserId: session.browserId })
    const email = state.human!.email
    const isRight = code && matchesCode(text, deriveCode(context.keys, code.code, userId, email, kind))
    if (!isRight) return refuseGuess(context, guesser, { user, session, field }, call)
    const { write, guard } = usingUpCode(code, codeInvalid(field))
    const passed = passing(context, guesser, session.browserId)
    const holds = (now: User | undefined) => whyNot(now) === undefined && now!.human!.email === email
    return {
      kind,
      user,
      holds,
      writes: [write, ...passed.writes],
      guards: [guard, passed.guard],
      uses: passed.uses,
    }
  },
  uses: (context, { userId, organizationId, state }) => [
    ...usesOfGuesses(context, { kind, userId, browserId: '' }),
    ...mailUses(context, state.human?.email ?? '', organizationId, 'factor'),
  ],
}

/** Why a mailed code proves nothing of a user. Undefined: it does. */
export function whyNot(user: User | undefined): ReturnType<typeof whyMailProvesNothing> {
  return whyMailProvesNothing(user?.human)
}

export function refuseUnavailable(user: User): void {
  if (whyNot(user)) throw notAvailable()
}

export function notAvailable(): RosterError {
  return new RosterError(
    'FAILED_PRECONDITION',
    'FACTOR_NOT_AVAILABLE',
    'A mailed code proves nothing of this user now.',
  )
}

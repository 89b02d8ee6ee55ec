import { randomUUID } from 'node:crypto'
import { mailOfFactors } from '../../../directory/email/factor-mails.ts'
import type { User } from '../../../directory/events/user.ts'
import type { Factor } from '../factor.ts'
import { codeInvalid, findGuesser, passing, refuseGuess, usesOfGuesses } from '../guesses.ts'
import { hasFactor, hasSecondFactor } from '../kinds.ts'
import { notSetUp } from '../totp/totp.ts'
import { findTypedCode, usingUpRecoveryCode } from './codes.ts'

export const kind = 'recovery-code'
const field = 'recoveryCode'

/**
 * A recovery code, which stands for another factor, and is used up. INVALID_ARGUMENT CODE_INVALID; FAILED_PRECONDITION
 * FACTOR_NOT_AVAILABLE, FACTOR_LOCKED; RESOURCE_EXHAUSTED FACTOR_THROTTLED; NOT_FOUND SESSION_NOT_FOUND.
 */
export const recoveryCode: Factor = {
  async check(context, { find, text, session }, call) {
    const user = await find?.()
    if (!user || !session || !isUsable(user.state)) throw notSetUp()
    const { userId, organizationId, state } = user
    const [guesser, mac] = await Promise.all([
      findGuesser(context, kind, { userId, browserId: session.browserId }),
      findTypedCode(context, userId, text),
    ])
    if (!mac) return refuseGuess(context, guesser, { user, session, field }, call)
    const { write, guard } = usingUpRecoveryCode(userId, mac, codeInvalid(field))
    const passed = passing(context, guesser, session.browserId)
    const mail = mailOfFactors('recovery-code-used', { userId, organizationId, codeId: randomUUID() })
    return {
      kind,
      user,
      holds: isUsable,
      writes: [write, ...passed.writes, ...(state.human!.isVerified ? [mail.write] : [])],
      guards: [guard, passed.guard],
      uses: passed.uses,
      settle: () => mail.announce(context),
    }
  },
  uses: (context, { userId }) => usesOfGuesses(context, { kind, userId, browserId: '' }),
}

function isUsable(user: User | undefined): boolean {
  return hasFactor(user?.human, kind) && hasSecondFactor(user?.human)
}

import { invalid, RosterError } from '#lib/errors'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../../context.ts'
import { deriveCode, matchesCode } from '../../../directory/email/code.ts'
import { mailUses } from '../../../directory/email/mail-uses.ts'
import type { User } from '../../../directory/events/user.ts'
import { findUserById, type LoginUser } from '../../../directory/login-names/login-user.ts'
import { endUnproved } from '../../../directory/links/end-unproved.ts'
import { isUnproved } from '../../../directory/links/unproved.ts'
import { recordFailure } from '../../../directory/passwords/failures.ts'
import { networkOf } from '../../../directory/rate-limits/token-buckets.ts'
import { countTry, usingUpCode } from '../../../directory/secrets/one-time-codes.ts'
import { isActive } from '../../../directory/states/user-state.ts'
import type { Factor } from '../factor.ts'
import { passedIn } from '../guesses.ts'
import { isSetByCovering } from './trusted-address.ts'

export const kind = 'mailed-code'
/** The name of the codes and of their mail. */
export const purpose = 'sign-in-code'

/**
 * A code by mail as the first factor. Its try is counted before anybody is looked up, and a code that was asked for in vain
 * has a row, too: so neither the answer nor its time depends on whether the name exists. INVALID_ARGUMENT CODE_INVALID.
 */
export const mailedCode: Factor = {
  async check(context, { text, session, code: codeId, find }, call) {
    const { id, browserId } = session!
    // In a session of the API the user is known, and has one code.
    const by = codeId === undefined ? { userId: (await find?.())?.userId ?? '' } : { codeId }
    const code = await countTry(context, purpose, { ...by, purpose: id, browserId })
    const user = code && (await findUserById(context, code.userId))
    const email = user?.state.human?.email ?? ''
    const isRight = code && matchesCode(text, deriveCode(context.keys, code.code, code.userId, email, purpose))
    if (!isRight || !user) {
      if (user) noteWrong(context, user, call)
      throw codeInvalid()
    }
    if (!(await isSetByCovering(context, user, call, code.detail['seenBy']))) throw codeInvalid()
    if (isUnproved(user.state.human)) await endUnproved(context, user.userId, call)
    const { write, guard } = usingUpCode(code, codeInvalid())
    const { emailSetBy } = user.state.human!
    return {
      kind,
      user,
      holds: (now) => isStill(now, email, emailSetBy),
      writes: [write, ...passedIn(user.userId, kind, browserId)],
      guards: [guard],
      uses: [],
    }
  },
  uses: (context, { organizationId, state }) => mailUses(context, state.human?.email ?? '', organizationId, 'sign-in'),
}

// The address is the one that got the code, and still proves its user.
function isStill(user: User | undefined, email: string, setBy: string | undefined): boolean {
  const human = isActive(user) ? user?.human : undefined
  return human?.isVerified === true && human.email === email && human.emailSetBy === setBy
}

// After the answer, whose time so says nothing of the user.
function noteWrong(context: Context, user: LoginUser, { clientAddress, requestId }: Call): void {
  context.failureCounts.note(user.userId, 'code-wrong')
  context.afterResponse.run(networkOf(clientAddress) ?? clientAddress, () => recordFailure(context, user, requestId))
}

function codeInvalid(): RosterError {
  return invalid([{ field: 'otpEmailCode', description: 'is wrong, expired, used or replaced' }], 'CODE_INVALID')
}

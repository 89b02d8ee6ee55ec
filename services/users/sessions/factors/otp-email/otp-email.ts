import { invalid, RosterError } from '#lib/errors'
import type { Aggregate } from '#lib/eventstore/aggregate'
import type { Decision, Use } from '#lib/eventstore/command'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../../context.ts'
import { deriveCode, matchesCode } from '../../../directory/email/code.ts'
import { mailUses } from '../../../directory/email/mail-uses.ts'
import { whyMailProvesNothing } from '../../../directory/events/human.ts'
import type { User } from '../../../directory/events/user.ts'
import type { LoginUser } from '../../../directory/login-names/login-user.ts'
import { countTry, usingUpCode } from '../../../directory/secrets/one-time-codes.ts'
import type { Session, SessionEvent } from '../../events/session.ts'
import { sessionNotFound } from '../../sessions.ts'
import type { Factor } from '../factor.ts'
import { factorKinds } from '../kinds.ts'

export const kind = 'otp-email'

/**
 * A code by mail. INVALID_ARGUMENT CODE_INVALID; FAILED_PRECONDITION FACTOR_NOT_AVAILABLE; RESOURCE_EXHAUSTED
 * FACTOR_THROTTLED; NOT_FOUND SESSION_NOT_FOUND.
 */
export const otpEmail: Factor = {
  async check(context, { find, text, session }, call) {
    const user = await find?.()
    if (!user || !session) throw notAvailable()
    refuseUnavailable(user.state)
    const { userId, state } = user
    const code = await countTry(context, kind, { userId, purpose: session.id, browserId: session.browserId })
    const email = state.human!.email
    const isRight = code && matchesCode(text, deriveCode(context.keys, code.code, userId, email, kind))
    const uses = guesses(context, userId)
    if (!isRight) {
      await reject(context, { user, sessionId: session.id, uses }, call)
      context.failureCounts.note(userId, 'code-wrong')
      throw codeInvalid()
    }
    const { write, guard } = usingUpCode(code, codeInvalid())
    const holds = (now: User | undefined) => whyNot(now) === undefined && now!.human!.email === email
    return { kind, user, holds, writes: [write], guards: [guard], uses }
  },
  uses: (context, { userId, organizationId, state }) => [
    ...guesses(context, userId),
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

function codeInvalid(): RosterError {
  return invalid([{ field: 'otpEmailCode', description: 'is wrong, expired, used or replaced' }], 'CODE_INVALID')
}

// Counted beside each try, right or wrong, so that tries at once are no more than others. Over all sessions, pages and
// names of the user.
function guesses({ keys }: Pick<Context, 'keys'>, userId: string): Use[] {
  return [
    {
      key: keys.mac('factor-guesses', keys.currentId, [kind, userId]).toString('base64'),
      limits: factorKinds[kind].second!.guesses,
      exceeded: (retryAfter) =>
        new RosterError('RESOURCE_EXHAUSTED', 'FACTOR_THROTTLED', 'Too many codes of this user were tried lately.', {
          retryAfter,
        }),
    },
  ]
}

function reject(
  { store }: Pick<Context, 'store'>,
  { user: { userId }, sessionId, uses }: { user: LoginUser; sessionId: string; uses: Use[] },
  { requestId, deadline }: Call,
): Promise<unknown> {
  return store.execute({
    aggregate: { type: 'session', id: sessionId },
    call: { caller: { userId }, requestId, deadline },
    decide({ state }: Aggregate<Session>): Decision<SessionEvent> {
      if (!state || state.ended || state.userId !== userId) throw sessionNotFound()
      return { events: [{ type: 'factor.rejected', payload: { userId, kind } }], uses, answer: undefined }
    },
  })
}

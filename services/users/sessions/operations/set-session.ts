import type { SetSessionRequest, SetSessionResponse } from '#gen/roster/users/v1/session_service'
import type { Violation } from '#lib/errors'
import { type Aggregate, details, type Existing } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { loadLoginPolicy } from '../login-policy/load-login-policy.ts'
import { findUserById, type LoginUser } from '../../directory/login-names/login-user.ts'
import { checkPassword, credentialsInvalid } from '../../directory/passwords/check-password.ts'
import { completing } from '../half-done-sessions.ts'
import { faultsOfLifetime, secondsOf } from '../lifetime.ts'
import { sessionEnd, openSession } from '../open-session.ts'
import { findPresented } from '../presented-session.ts'
import { sessionNotFound } from '../sessions.ts'
import { surplusSessions } from '../surplus.ts'
import { isActive } from '../../directory/states/user-state.ts'
import { isOpen } from '../../../organization-status.ts'
import { beganSinceOpen, statuses } from '../../directory/organizations/statuses.ts'
import { hashToken, newToken } from '../../directory/tokens/token.ts'
import type { Session, SessionEvent } from '../events/session.ts'
import { outlives } from '../../directory/events/sign-outs.ts'
import { passwordOf, userKey } from '../../directory/events/user.ts'

export const setSession = {
  check: (_context: Context, request: SetSessionRequest): Violation[] => faultsOfLifetime(request),
  // Its answers would say whether a password was sent before, without counting the guess.
  ignoresKey: () => true,
  handle,
}

async function handle(context: Context, request: SetSessionRequest, call: Call): Promise<SetSessionResponse> {
  const { sessionId, sessionToken, password } = request
  const presented = await findPresented(context, sessionId, sessionToken)
  const known = presented && ('halfDone' in presented ? presented.halfDone : presented.whole.state)
  const found = known && (await findUserById(context, known.userId))
  if (!found) throw sessionNotFound()
  const attempted = { loginName: found.state.userName, password, find: () => findUserById(context, found.userId) }
  const { user, rememberAddress } = await checkPassword(context, attempted, call)
  const lifetime = secondsOf(request.lifetime)
  const answer =
    'whole' in presented
      ? await checkAgain(context, presented.whole, user, lifetime, call)
      : await openSession(
          context,
          {
            user,
            lifetime: lifetime ?? presented.halfDone.lifetime ?? undefined,
            halfDone: { sessionId, ...completing(sessionId, sessionToken) },
          },
          call,
        )
  await Promise.all([rememberAddress(), surplusSessions.settle(context, user.userId)])
  return answer
}

async function checkAgain(
  context: Context,
  known: Existing<Session>,
  { userId, organizationId, state: then }: LoginUser,
  lifetime: number | undefined,
  { caller, requestId, deadline }: Call,
): Promise<SetSessionResponse> {
  const checked = passwordOf(then)
  const policy = await loadLoginPolicy(context, organizationId)
  const sessionToken = newToken()
  return context.store.execute({
    aggregate: { type: 'session', id: known.id },
    call: { caller: { ...caller, userId }, requestId, deadline },
    reads: { user: userKey(userId), status: statuses.key(organizationId) },
    decide(session: Aggregate<Session>, now, { user: { state }, status }): Decision<SessionEvent, Date> {
      // Whatever changed it gave it another token, or ended it.
      if (!session.state || session.sequence !== known.sequence) throw sessionNotFound()
      if (!isActive(state) || passwordOf(state) !== checked || !isOpen(status)) throw credentialsInvalid()
      if (!outlives(state, known.id, session.state.signOuts ?? 0) || !beganSinceOpen(session, status))
        throw sessionNotFound()
      const end = sessionEnd(policy, now, lifetime)
      return {
        events: [{ type: 'factor.checked', payload: { userId, kind: 'password', expiresAt: end.toISOString() } }],
        writes: [
          (sql) => sql`
            update tokens set hash = ${hashToken(sessionToken)}, expires_at = ${end} where session_id <> '' and session_id = ${known.id}
          `,
        ],
        answer: end,
      }
    },
    respond: ({ after, answer: expirationDate }) => ({ sessionToken, expirationDate, details: details(after) }),
  })
}

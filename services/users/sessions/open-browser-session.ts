import { v7 as uuid } from 'uuid'
import type { Write } from '#lib/database/database'
import type { Aggregate } from '#lib/eventstore/aggregate'
import type { Decision, Guard } from '#lib/eventstore/command'
import type { Call } from '#lib/rpc/headers'
import { isOpen } from '../../organization-status.ts'
import { type Browser, renewValue } from './browsers/session-cookie.ts'
import { keepSession, sessionsOf } from './browsers/browser-sessions.ts'
import { Superseded } from './browsers/superseded.ts'
import type { Context } from '../context.ts'
import { statuses } from '../directory/organizations/statuses.ts'
import { loadLoginPolicy } from './login-policy/load-login-policy.ts'
import { isActive } from '../directory/states/user-state.ts'
import { newToken } from '../directory/tokens/token.ts'
import type { Session, SessionEvent } from './events/session.ts'
import { outlives, signOutsOf } from '../directory/events/sign-outs.ts'
import { passwordOf, type User, userKey } from '../directory/events/user.ts'
import { credentialsInvalid } from '../directory/passwords/check-password.ts'
import type { LoginUser } from '../directory/login-names/login-user.ts'
import { storeSession } from './sessions.ts'

/** What is stored with a session, and what must hold then. */
export interface Along {
  writes(session: { sessionId: string; userId: string }): Write[]
  guards: Guard[]
}

/**
 * Gives a browser a session of a user whose password was right, and returns the new value of its cookie. If it has one,
 * that goes on, with a further check. UNAUTHENTICATED CREDENTIALS_INVALID where the user may no longer sign in. Throws
 * `Superseded` where the browser has another value meanwhile.
 */
export async function openBrowserSession(
  context: Context,
  { userId, organizationId, state: then }: LoginUser,
  browser: Browser,
  along: Along,
  { requestId, deadline }: Call,
): Promise<string> {
  const { config, sql, store } = context
  const checked = passwordOf(then)
  const { passwordCheckLifetime } = await loadLoginPolicy(context, organizationId)
  const known = (await sessionsOf(sql, browser, '')).find((session) => session.userId === userId)
  const found = known && (await store.load<Session>('session', known.sessionId))
  // The row of the sign-in may be one of the former release, which did not count.
  const goesOn = found !== undefined && mayGoOn(found, (await store.load<User>('user', userId))?.state)
  const sessionId = goesOn ? found.id : uuid()
  const { newValue, writes, guard } = renewValue(browser)
  // It is given to no one: the browser has its cookie.
  const token = newToken()
  return store.execute({
    aggregate: { type: 'session', id: sessionId },
    call: { caller: { userId }, requestId, deadline },
    reads: { user: userKey(userId), status: statuses.key(organizationId) },
    decide(session: Aggregate<Session>, now, { user: { state }, status }): Decision<SessionEvent> {
      if (!isActive(state) || passwordOf(state) !== checked || !isOpen(status)) throw credentialsInvalid()
      if (goesOn && !mayGoOn(session, state)) throw new Superseded()
      const end = new Date(now.getTime() + passwordCheckLifetime * 1000)
      const expiresAt = end.toISOString()
      const event: SessionEvent = goesOn
        ? { type: 'factor.checked', payload: { userId, kind: 'password', expiresAt } }
        : { type: 'created', payload: { userId, expiresAt, ...begun(browser, state!, now) } }
      return {
        organizationId,
        events: [event],
        writes: [
          goesOn
            ? (sql) => sql`update tokens set expires_at = ${end} where session_id <> '' and session_id = ${sessionId}`
            : storeSession(
                token,
                { userId, organizationId, human: true, sessionId, expiresAt: end },
                config.SESSIONS_PER_USER,
              ),
          ...keepSession(browser, userId, sessionId),
          ...writes,
          ...along.writes({ sessionId, userId }),
        ],
        guards: [guard, ...along.guards],
        answer: undefined,
      }
    },
    respond: () => newValue,
  })
}

// It was not ended, neither alone nor together with all others.
function mayGoOn({ id, state }: Aggregate<Session>, user: User | undefined): boolean {
  return state?.ended === false && outlives(user, id, state.signOuts ?? 0)
}

function begun({ id }: Browser, user: User, now: Date) {
  return {
    factors: [{ kind: 'password' as const, at: now.toISOString() }],
    browserId: id,
    signOuts: signOutsOf(user),
  }
}

import { v7 as uuid } from 'uuid'
import type { ObjectDetails } from '#gen/roster/object/v1/object'
import { details } from '#lib/eventstore/aggregate'
import type { Decision, Guard } from '#lib/eventstore/command'
import type { Statement } from '#lib/database/database'
import type { Call } from '#lib/rpc/headers'
import { isBesideFormer } from '#lib/schema/releases'
import { isOpen } from '../../organization-status.ts'
import type { Context } from '../context.ts'
import type { LoginUser } from '../directory/login-names/login-user.ts'
import { statuses } from '../directory/organizations/statuses.ts'
import type { LoginPolicy } from './login-policy/login-policy.ts'
import { loadLoginPolicy } from './login-policy/load-login-policy.ts'
import { isActive } from '../directory/states/user-state.ts'
import { newToken } from '../directory/tokens/token.ts'
import type { SessionEvent } from './events/session.ts'
import { signOutsOf } from '../directory/events/sign-outs.ts'
import { passwordOf, userKey } from '../directory/events/user.ts'
import { credentialsInvalid } from '../directory/passwords/check-password.ts'
import { storeSession } from './sessions.ts'

/** A session of a user whose password was right. */
export interface NewSession {
  user: LoginUser
  /** Seconds; at most as long as every session. */
  lifetime: number | undefined
  /** The half-done session that it is made of. */
  halfDone?: { sessionId: string; write: Statement; guard: Guard } | undefined
}

export interface OpenedSession {
  sessionId: string
  sessionToken: string
  expirationDate: Date
  details: ObjectDetails
}

/** Opens a session. UNAUTHENTICATED CREDENTIALS_INVALID where the user may no longer sign in. */
export async function openSession(
  context: Context,
  { user: { userId, organizationId, state: then }, lifetime, halfDone }: NewSession,
  call: Call,
): Promise<OpenedSession> {
  const { config, sql, store } = context
  const policy = await loadLoginPolicy(context, organizationId)
  const { caller, requestId, deadline, once } = call
  const checked = passwordOf(then)
  const sessionId = halfDone?.sessionId ?? uuid()
  const sessionToken = newToken()
  // A replica of the former release does not know the fields of what was checked.
  const isAlone = !(await isBesideFormer(sql))
  return store.execute({
    aggregate: { type: 'session', id: sessionId },
    // If-Match is left out: a mismatch would reveal a right password and leave no session.
    call: { caller: { ...caller, userId }, requestId, deadline, ...(once && { once }) },
    reads: { user: userKey(userId), status: statuses.key(organizationId) },
    decide(_session, now, { user: { state }, status }): Decision<SessionEvent, Date> {
      // The password that was checked may have been changed meanwhile.
      if (!isActive(state) || passwordOf(state) !== checked || !isOpen(status)) throw credentialsInvalid()
      const end = sessionEnd(policy, now, lifetime)
      const token = { userId, organizationId, human: true, sessionId, expiresAt: end }
      const factors = [{ kind: 'password' as const, at: now.toISOString() }]
      return {
        organizationId,
        events: [
          {
            type: 'created',
            payload: {
              userId,
              expiresAt: end.toISOString(),
              ...(isAlone && { factors, signOuts: signOutsOf(state) }),
            },
          },
        ],
        writes: [storeSession(sessionToken, token, config.SESSIONS_PER_USER), ...(halfDone ? [halfDone.write] : [])],
        ...(halfDone && { guards: [halfDone.guard] }),
        answer: end,
      }
    },
    respond: ({ after, answer: expirationDate }) => ({
      sessionId,
      sessionToken,
      expirationDate,
      details: details(after),
    }),
  })
}

/** When a session ends whose password was checked now. */
export function sessionEnd({ passwordCheckLifetime: most }: LoginPolicy, now: Date, lifetime = most): Date {
  return new Date(now.getTime() + Math.min(lifetime, most) * 1000)
}

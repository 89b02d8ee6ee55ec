import type { CreateSessionRequest, CreateSessionResponse } from '#gen/roster/users/v1/session_service'
import { RosterError } from '#lib/errors'
import { type Aggregate, details } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import type { Call } from '#lib/rpc/headers'
import { v7 as uuid } from 'uuid'
import type { Context } from '../../context.ts'
import { findKnown, rememberAddress } from '../../throttles/known-addresses.ts'
import { recordLater } from '../../sign-in/failures.ts'
import { findLoginUser, type LoginUser } from '../../sign-in/login-user.ts'
import { verifyPassword } from '../../sign-in/password.ts'
import { endSurplus, storeSession } from '../../sign-in/sessions.ts'
import { countAttempt } from '../../throttles/sign-in-attempts.ts'
import { newToken } from '../../token.ts'
import { networkOf } from '../../throttles/token-buckets.ts'
import { statuses } from '../../organizations/statuses.ts'
import { isOpen } from '../../../organization-status.ts'
import { isActive } from '../../states/user-state.ts'
import type { SessionEvent } from '../../vocabulary/session.ts'
import { passwordOf, type User } from '../../vocabulary/user.ts'

/** A replayed request may be a guess, so it counts like any other. Returns the function that takes the attempt back. */
export async function beforeSessionReplay(context: Context, { loginName }: CreateSessionRequest, call: Call) {
  return (await begin(context, loginName, call)).takeBack
}

export async function createSession(
  context: Context,
  { loginName, password }: CreateSessionRequest,
  call: Call,
): Promise<CreateSessionResponse> {
  const { user, known, takeBack, takeBackGuess } = await begin(context, loginName, call)
  // A user who may not sign in gets the same answer as a user without a password, after the same time.
  const hash = user && isActive(user.state) ? user.hash : null
  const place = {
    lane: networkOf(call.clientAddress) ?? call.clientAddress,
    preferred: known !== undefined,
    deadline: call.deadline,
  }
  const right = await verifyPassword(password, hash ?? undefined, place).catch(async (error: unknown) => {
    await takeBackGuess()
    throw error
  })
  if (!right || !user) {
    recordLater(context, place.lane, user, call)
    throw credentialsInvalid()
  }
  await takeBack()
  const answer = await open(context, user, call)
  // The session exists, even if the next steps fail. Without the rest, others end it later, or its address stays
  // unknown.
  await Promise.all([
    rememberAddress(context, user.userId, call.clientAddress, known),
    endSurplus(context, user.userId),
  ]).catch((error: unknown) => context.log.warn({ err: error }, 'work after a sign-in failed'))
  return answer
}

async function begin(context: Context, loginName: string, call: Call) {
  const { clientAddress: address } = call
  const user = await findLoginUser(context, loginName, call)
  const known = user && findKnown(context.keys, user.known, user.userId, address)
  const attempt = await countAttempt(context, { loginName, address, knownUserId: known && user.userId })
  return { user, known, ...attempt }
}

async function open({ config, store }: Context, user: LoginUser, call: Call): Promise<CreateSessionResponse> {
  const { userId, organizationId } = user
  const { caller, requestId, deadline, once } = call
  const checked = passwordOf(user.state)
  const sessionId = uuid()
  const sessionToken = newToken()
  const token = { userId, organizationId, human: true, sessionId }
  return store.execute({
    aggregate: { type: 'session', id: sessionId },
    // If-Match is left out: a mismatch would reveal a right password and leave no session.
    call: { caller: { ...caller, userId }, requestId, deadline, ...(once && { once }) },
    reads: [{ type: 'user', id: userId }, statuses.key(organizationId)],
    decide(_session, now, [user, status]): Decision<SessionEvent, Date> {
      const { state } = user as Aggregate<User>
      // The password that was checked may have been changed meanwhile.
      if (!isActive(state) || passwordOf(state) !== checked || !isOpen(status!)) throw credentialsInvalid()
      const end = new Date(now.getTime() + config.SESSION_LIFETIME * 1000)
      return {
        organizationId,
        events: [{ type: 'created', payload: { userId, expiresAt: end.toISOString() } }],
        writes: [storeSession(sessionToken, { ...token, expiresAt: end }, config.SESSIONS_PER_USER)],
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

function credentialsInvalid() {
  return new RosterError('UNAUTHENTICATED', 'CREDENTIALS_INVALID', 'The login name or the password is wrong.')
}

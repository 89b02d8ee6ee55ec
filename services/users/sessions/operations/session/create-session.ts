import type { CreateSessionRequest, CreateSessionResponse } from '#gen/roster/users/v1/session_service'
import type { Violation } from '#lib/errors'
import type { IDPIntentProof } from '#gen/roster/users/v1/user_service'
import { permissionDenied, tokenMissing } from '#lib/rpc/authorize'
import type { Call } from '#lib/rpc/headers'
import { refuseBesideFormer } from '#lib/schema/releases'
import type { Context } from '../../../context.ts'
import { findUserById, type LoginUser } from '../../../directory/login-names/login-user.ts'
import { findLoginUser } from '../../../directory/login-names/meaning.ts'
import { isOrganizationOpen } from '../../../directory/organizations/statuses.ts'
import { type Attempted, beginAttempt, credentialsInvalid } from '../../../directory/passwords/check-password.ts'
import { loadPersonPolicy } from '../../login-policy/load-person-policy.ts'
import { missingMethods } from '../../session-tokens.ts'
import { factors } from '../../factors/registry.ts'
import { beginHalfDone, detailsOf } from '../../half-done-sessions.ts'
import { faultsOfLifetime, secondsOf } from '../../lifetime.ts'
import { provedByIntent } from '../../intents/proved-by-intent.ts'
import { isLoginApplication, recordFactor } from '../../record-factor.ts'
import { surplusSessions } from '../../surplus.ts'
import { isActive } from '../../../directory/states/user-state.ts'
import { userNotFound } from '../../../directory/events/user-not-found.ts'

export const createSession = {
  permit({ userId, lifetime, idpIntent }: CreateSessionRequest, { caller }: Call): void {
    if ((userId === '' && !lifetime && !idpIntent) || isLoginApplication(caller)) return
    throw caller.userId === '' ? tokenMissing() : permissionDenied()
  },

  check(_context: Context, request: CreateSessionRequest, { caller }: Call): Violation[] {
    const { loginName, userId, password, idpIntent } = request
    const refuse = (field: string, description: string): Violation[] => [{ field, description }]
    return [
      ...(loginName === '' && userId === '' && !idpIntent ? refuse('loginName', 'must have at least 1 character') : []),
      ...(loginName !== '' && userId !== '' ? refuse('userId', 'must not stand beside a login name') : []),
      ...(password === '' && !isLoginApplication(caller) ? refuse('password', 'must have at least 1 character') : []),
      ...(idpIntent && password !== '' ? refuse('idpIntent', 'must not stand beside a password') : []),
      ...faultsOfLifetime(request),
    ]
  },

  // A half-done session is answered without an event that an answer could be kept with.
  ignoresKey: ({ password }: CreateSessionRequest) => password === '',

  /** A replayed request may be a guess, so it counts like any other. Returns the function that takes the attempt back. */
  async beforeReplay(context: Context, request: CreateSessionRequest, call: Call) {
    return (await beginAttempt(context, await attemptOf(context, request), call)).takeBack
  },

  async handle(context: Context, request: CreateSessionRequest, call: Call): Promise<CreateSessionResponse> {
    if (request.idpIntent) return byIntent(context, request, request.idpIntent, call)
    if (request.password === '') return begin(context, request, call)
    const { password: text, ...attempt } = await attemptOf(context, request)
    const proved = await factors.password.check(context, { ...attempt, text }, call)
    const answer = await recordFactor(
      context,
      proved,
      { session: undefined, lifetime: secondsOf(request.lifetime) },
      call,
    )
    await Promise.all([proved.settle?.(), surplusSessions.settle(context, proved.user.userId)])
    return answer
  },
}

async function byIntent(
  context: Context,
  { loginName, userId, lifetime }: CreateSessionRequest,
  proof: IDPIntentProof,
  call: Call,
): Promise<CreateSessionResponse> {
  await refuseBesideFormer(context.sql)
  const proved = await provedByIntent(context, proof, call)
  const named = loginName === '' ? userId : (await findLoginUser(context, loginName, call))?.userId
  if (named !== '' && named !== proved.user.userId) throw credentialsInvalid()
  const answer = await recordFactor(context, proved, { session: undefined, lifetime: secondsOf(lifetime) }, call)
  await Promise.all([
    proved.follow(answer.missingFactors.length === 0),
    surplusSessions.settle(context, proved.user.userId),
  ])
  return answer
}

// Tries count for the same name, however the user is named.
async function attemptOf(context: Context, { loginName, userId, password }: CreateSessionRequest): Promise<Attempted> {
  if (userId === '') return { loginName, password }
  const user = await findUserById(context, userId)
  return { loginName: user?.state.userName ?? userId, password, find: async () => user }
}

async function begin(
  context: Context,
  { loginName, userId, lifetime }: CreateSessionRequest,
  call: Call,
): Promise<CreateSessionResponse> {
  const user = await (userId === '' ? findLoginUser(context, loginName, call) : findUserById(context, userId))
  if (!user || !(await maySignIn(context, user))) throw userNotFound()
  const begun = await beginHalfDone(context, user, secondsOf(lifetime) ?? null, call.clientAddress)
  const { sessionId, token: sessionToken, expiresAt: expirationDate } = begun
  return {
    sessionId,
    sessionToken,
    expirationDate,
    details: detailsOf(begun),
    missingFactors: missingMethods(
      await loadPersonPolicy(context, user, call),
      user.state,
      { factors: [] },
      begun.beganAt,
    ),
  }
}

async function maySignIn(context: Context, { state, organizationId }: LoginUser): Promise<boolean> {
  return isActive(state) && state.human !== undefined && (await isOrganizationOpen(context, organizationId))
}

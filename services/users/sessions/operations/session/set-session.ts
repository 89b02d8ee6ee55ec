import {
  type SetSessionRequest,
  type SetSessionResponse,
  UserVerificationRequirement,
  type WebAuthNChallenge,
} from '#gen/roster/users/v1/session_service'
import { randomUUID } from 'node:crypto'
import { orUnavailable, readNow } from '#lib/database/database'
import type { Violation } from '#lib/errors'
import { details } from '#lib/eventstore/aggregate'
import { permissionDenied } from '#lib/rpc/authorize'
import { holds } from '#lib/rpc/caller'
import { callerIn } from '#lib/rpc/caller-in'
import type { Call } from '#lib/rpc/headers'
import type { Config } from '../../../config.ts'
import type { Context } from '../../../context.ts'
import { checkTemplate, linkTargets } from '../../../directory/email/link.ts'
import { findUserById, type LoginUser } from '../../../directory/login-names/login-user.ts'
import { credentialsInvalid } from '../../../directory/passwords/check-password.ts'
import { requireMayActOn } from '../../../directory/may-act-on.ts'
import { sendSignInCode, type SignInCodeDelivery } from '../../factors/mailed-code/send-code.ts'
import { notAvailable } from '../../factors/otp-email/otp-email.ts'
import { sendCode } from '../../factors/otp-email/send-code.ts'
import { factorKinds } from '../../factors/kinds.ts'
import { refused } from '../../factors/passkey/ceremony.ts'
import { makeChallenge } from '../../factors/passkey/challenge.ts'
import { requestOptions } from '../../factors/passkey/options.ts'
import { relyingParty } from '../../factors/passkey/relying-party.ts'
import { provedByIntent } from '../../intents/proved-by-intent.ts'
import type { ProvedFactor } from '../../factors/factor.ts'
import { factors, type GivenFactor } from '../../factors/registry.ts'
import { completing, detailsOf } from '../../half-done-sessions.ts'
import { faultsOfLifetime, secondsOf } from '../../lifetime.ts'
import { loadLoginPolicy } from '../../login-policy/load-login-policy.ts'
import { loadPersonPolicy } from '../../login-policy/load-person-policy.ts'
import { findPresented, type PresentedSession } from '../../presented-session.ts'
import { recordFactor } from '../../record-factor.ts'
import { missingMethods } from '../../session-tokens.ts'
import { sessionNotFound } from '../../sessions.ts'
import { surplusSessions } from '../../surplus.ts'

export const setSession = {
  check({ config }: Context, request: SetSessionRequest): Violation[] {
    const { otpEmail, webAuthN, idpIntent } = request
    const [first, second] = [
      ...proofsIn(request).map(([, field]) => field),
      ...(idpIntent ? ['idpIntent'] : []),
      ...(otpEmail ? ['otpEmail'] : []),
      ...(webAuthN ? ['webAuthN'] : []),
    ]
    const delivery = otpEmail?.delivery
    const template = delivery?.$case === 'sendCode' ? delivery.value.urlTemplate : undefined
    return [
      ...(first ? [] : [{ field: 'password', description: 'must have at least 1 character' }]),
      ...(second ? [{ field: second, description: `must not stand beside ${first}` }] : []),
      ...(template === undefined
        ? []
        : checkTemplate(
            template.replaceAll('{{.SessionID}}', '{{.OrgID}}'),
            linkTargets(config, true),
            'otpEmail.sendCode.urlTemplate',
          )),
      ...(webAuthN ? faultsOfChallenge(config, webAuthN) : []),
      ...faultsOfLifetime(request),
    ]
  },
  // Its answers would say whether a password was sent before, without counting the guess.
  ignoresKey: () => true,
  handle,
}

async function handle(context: Context, request: SetSessionRequest, call: Call): Promise<SetSessionResponse> {
  const { sessionId, sessionToken } = request
  const presented = await findPresented(context, sessionId, sessionToken)
  const known = presented && ('halfDone' in presented ? presented.halfDone : presented.whole.state)
  const user = known && (await findUserById(context, known.userId))
  if (!user) throw sessionNotFound()
  if (request.otpEmail) return challenge(context, request, { presented, user }, call)
  if (request.webAuthN) return challengePasskey(context, request, { presented, user }, call)
  const whole = 'whole' in presented ? presented.whole : undefined
  if (request.idpIntent) {
    const proved = await provedByIntent(context, request.idpIntent, call)
    if (proved.user.userId !== user.userId) throw credentialsInvalid()
    const recorded = await record(context, request, { presented, proved }, call)
    await proved.follow(recorded.missingFactors.length === 0)
    return recorded
  }
  const [given, , text] = proofsIn(request)[0]!
  const kind = given === 'otp-email' && (await isByMail(context, user)) ? 'mailed-code' : given
  // A second factor comes to a first one.
  if (!factorKinds[kind].isFirst && !whole) throw notAvailable()
  const proved = await factors[kind].check(
    context,
    {
      loginName: user.state.userName,
      find: () => findUserById(context, user.userId),
      text,
      session: whole || kind === 'mailed-code' ? { id: sessionId, browserId: undefined } : undefined,
      asked: { binding: { for: 'session', sessionId, userId: user.userId } },
    },
    call,
  )
  if (!whole && proved.check?.second) throw notAvailable()
  return record(context, request, { presented, proved }, call)
}

async function record(
  context: Context,
  { sessionId, sessionToken, ...request }: SetSessionRequest,
  { presented, proved }: { presented: PresentedSession; proved: ProvedFactor },
  call: Call,
): Promise<SetSessionResponse> {
  const lifetime = secondsOf(request.lifetime)
  const { sessionId: _, ...recorded } = await recordFactor(
    context,
    proved,
    'whole' in presented
      ? { session: presented.whole, lifetime }
      : {
          session: undefined,
          sessionId,
          lifetime: lifetime ?? presented.halfDone.lifetime ?? undefined,
          ...completing(sessionId, sessionToken),
        },
    call,
  )
  await Promise.all([proved.settle?.(), surplusSessions.settle(context, proved.user.userId)])
  return recorded
}

// What of the request proves which factor, and its field.
function proofsIn(request: SetSessionRequest) {
  const { password, totpCode = '', otpEmailCode, recoveryCode = '', credentialAssertionData: credential } = request
  const all: [GivenFactor, string, string][] = [
    ['password', 'password', password],
    ['passkey', 'credentialAssertionData', credential ? JSON.stringify(credential) : ''],
    ['totp', 'totpCode', totpCode],
    ['otp-email', 'otpEmailCode', otpEmailCode],
    ['recovery-code', 'recoveryCode', recoveryCode],
  ]
  return all.filter(([, , text]) => text !== '')
}

// The session and its token stay.
async function challenge(
  context: Context,
  { sessionId, sessionToken, otpEmail }: SetSessionRequest,
  { presented, user }: { presented: PresentedSession; user: LoginUser },
  call: Call,
): Promise<SetSessionResponse> {
  const delivery = otpEmail!.delivery!
  const how = delivery.$case === 'returnCode' ? 'return' : { urlTemplate: delivery.value.urlTemplate }
  if (await isByMail(context, user))
    return challengeFirst(context, { sessionId, sessionToken, how }, { presented, user }, call)
  if (!('whole' in presented)) throw notAvailable()
  const { id, state } = presented.whole
  const code = await sendCode(context, user, { session: { id, browserId: undefined }, how }, call)
  return {
    sessionToken,
    expirationDate: new Date(state.expiresAt),
    details: details(presented.whole),
    challenges: code === undefined ? undefined : { otpEmail: code, webAuthN: undefined },
    missingFactors: missingMethods(
      await loadPersonPolicy(context, user, call),
      user.state,
      state,
      presented.whole.readAt,
    ),
  }
}

// Where the policy wants no passwords, a mailed code is the first factor.
async function isByMail(context: Context, { organizationId }: LoginUser): Promise<boolean> {
  return (await loadLoginPolicy(context, organizationId)).factors.includes('mailed-code')
}

// Who sees a code that signs in by itself is whoever may reset the password of the user.
async function challengeFirst(
  context: Context,
  { sessionId, sessionToken, how }: { sessionId: string; sessionToken: string; how: SignInCodeDelivery['how'] },
  { presented, user }: { presented: PresentedSession; user: LoginUser },
  call: Call,
): Promise<SetSessionResponse> {
  const { userId, organizationId } = user
  if (how === 'return') {
    if (!holds(await callerIn(call, organizationId), 'user.write', organizationId)) throw permissionDenied()
    await requireMayActOn(context, userId, call)
  }
  const place = { id: sessionId, browserId: undefined }
  const code = await sendSignInCode(context, user, { codeId: randomUUID(), place, how }, call)
  const [state, now] =
    'whole' in presented
      ? [presented.whole.state, presented.whole.readAt]
      : [{ factors: [] }, await orUnavailable(readNow(context.sql))]
  return {
    sessionToken,
    expirationDate: 'whole' in presented ? new Date(presented.whole.state.expiresAt) : presented.halfDone.expiresAt,
    details: 'whole' in presented ? details(presented.whole) : detailsOf(presented.halfDone),
    challenges: code === undefined ? undefined : { otpEmail: code, webAuthN: undefined },
    missingFactors: missingMethods(await loadPersonPolicy(context, user, call), user.state, state, now),
  }
}

function faultsOfChallenge(
  config: Config,
  { domain, userVerificationRequirement: wanted }: WebAuthNChallenge,
): Violation[] {
  const { id } = relyingParty(config)
  const refuse = (field: string, description: string) => [{ field: `webAuthN.${field}`, description }]
  return [
    ...(domain === id ? [] : refuse('domain', `must be ${id}`)),
    ...(verification[wanted] ? [] : refuse('userVerificationRequirement', 'must be chosen')),
  ]
}

const verification: Partial<Record<UserVerificationRequirement, 'required' | 'preferred' | 'discouraged'>> = {
  [UserVerificationRequirement.USER_VERIFICATION_REQUIREMENT_REQUIRED]: 'required',
  [UserVerificationRequirement.USER_VERIFICATION_REQUIREMENT_PREFERRED]: 'preferred',
  [UserVerificationRequirement.USER_VERIFICATION_REQUIREMENT_DISCOURAGED]: 'discouraged',
}

// Nothing is stored, so there is no event. The session and its token stay.
async function challengePasskey(
  context: Context,
  { sessionId, sessionToken, webAuthN }: SetSessionRequest,
  { presented, user }: { presented: PresentedSession; user: LoginUser },
  call: Call,
): Promise<SetSessionResponse> {
  const { keys, config, sql } = context
  const policy = await loadPersonPolicy(context, user, call)
  const { id: rpId } = relyingParty(config)
  const wanted = verification[webAuthN!.userVerificationRequirement]!
  const verifies = wanted === 'required'
  const passkeys = (user.state.human?.passkeys ?? []).filter(
    (one) => one.rpId === rpId && (one.secondOnly ? !verifies : policy.allowPasskeys),
  )
  if (passkeys.length === 0 || (!verifies && !('whole' in presented))) throw refused('not-allowed')
  const binding = { for: 'session' as const, sessionId, userId: user.userId }
  const now = await readNow(sql)
  const challenge = makeChallenge(keys, binding, { verifies }, now)
  const options = { publicKey: requestOptions(rpId, challenge, wanted, passkeys) }
  const state = 'whole' in presented ? presented.whole.state : undefined
  return {
    sessionToken,
    expirationDate: 'whole' in presented ? new Date(presented.whole.state.expiresAt) : presented.halfDone.expiresAt,
    details: 'whole' in presented ? details(presented.whole) : detailsOf(presented.halfDone),
    challenges: { webAuthN: { publicKeyCredentialRequestOptions: options }, otpEmail: undefined },
    missingFactors: missingMethods(policy, user.state, state ?? { factors: [] }, now),
  }
}

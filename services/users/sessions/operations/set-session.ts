import type { SetSessionRequest, SetSessionResponse } from '#gen/roster/users/v1/session_service'
import type { Violation } from '#lib/errors'
import { details } from '#lib/eventstore/aggregate'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { checkTemplate, linkTargets } from '../../directory/email/link.ts'
import { findUserById, type LoginUser } from '../../directory/login-names/login-user.ts'
import type { FactorKind } from '../events/session.ts'
import { notAvailable } from '../factors/otp-email/otp-email.ts'
import { sendCode } from '../factors/otp-email/send-code.ts'
import { factors } from '../factors/registry.ts'
import { completing } from '../half-done-sessions.ts'
import { faultsOfLifetime, secondsOf } from '../lifetime.ts'
import { loadLoginPolicy } from '../login-policy/load-login-policy.ts'
import { findPresented, type PresentedSession } from '../presented-session.ts'
import { recordFactor } from '../record-factor.ts'
import { missingMethods } from '../session-tokens.ts'
import { sessionNotFound } from '../sessions.ts'
import { surplusSessions } from '../surplus.ts'

export const setSession = {
  check({ config }: Context, request: SetSessionRequest): Violation[] {
    const { otpEmail } = request
    const [first, second] = [...codesIn(request).map(([, field]) => field), ...(otpEmail ? ['otpEmail'] : [])]
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
  const [kind, , text] = codesIn(request)[0]!
  const whole = 'whole' in presented ? presented.whole : undefined
  // A second factor comes to a first one.
  if (kind !== 'password' && !whole) throw notAvailable()
  const proved = await factors[kind].check(
    context,
    {
      loginName: user.state.userName,
      find: () => findUserById(context, user.userId),
      text,
      session: whole && { id: whole.id, browserId: undefined },
    },
    call,
  )
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
  await Promise.all([proved.settle?.(), surplusSessions.settle(context, user.userId)])
  return recorded
}

// What of the request proves which factor, and its field.
function codesIn({ password, totpCode = '', otpEmailCode, recoveryCode = '' }: SetSessionRequest) {
  const all: [FactorKind, string, string][] = [
    ['password', 'password', password],
    ['totp', 'totpCode', totpCode],
    ['otp-email', 'otpEmailCode', otpEmailCode],
    ['recovery-code', 'recoveryCode', recoveryCode],
  ]
  return all.filter(([, , text]) => text !== '')
}

// The session and its token stay.
async function challenge(
  context: Context,
  { sessionToken, otpEmail }: SetSessionRequest,
  { presented, user }: { presented: PresentedSession; user: LoginUser },
  call: Call,
): Promise<SetSessionResponse> {
  if (!('whole' in presented)) throw notAvailable()
  const { id, state } = presented.whole
  const delivery = otpEmail!.delivery!
  const how = delivery.$case === 'returnCode' ? 'return' : { urlTemplate: delivery.value.urlTemplate }
  const code = await sendCode(context, user, { session: { id, browserId: undefined }, how }, call)
  return {
    sessionToken,
    expirationDate: new Date(state.expiresAt),
    details: details(presented.whole),
    challenges: code === undefined ? undefined : { otpEmail: code },
    missingFactors: missingMethods(await loadLoginPolicy(context, user.organizationId), user.state, state),
  }
}

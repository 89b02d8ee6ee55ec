import { type PageAnswer, SignInError, type SignInRequest } from '#gen/roster/users/v1/sign_in_service'
import { orUnavailable } from '#lib/database/database'
import { RosterError } from '#lib/errors'
import type { Call } from '#lib/rpc/headers'
import { isMeant } from '../../../openid/authorization/candidates.ts'
import { loadApplication } from '../../../openid/applications/find-application.ts'
import { answerApplication, toPage } from '../../../openid/authorization/answer.ts'
import { codeLifetime } from '../../../openid/authorization/grant-code.ts'
import { readCode } from '../../../openid/authorization/sealed-code.ts'
import { authorizationType } from '../../../openid/events/authorization.ts'
import { isForOwnAccount } from '../../../openid/request/parameters.ts'
import type { Asked, RequestedApplication, Unanswerable } from '../../../openid/request/read-parameters.ts'
import { prepareAnswer } from '../../sign-in/answer-at-once.ts'
import { branded } from '../../sign-in/branded.ts'
import { openForm, type OpenedRequest, signingIn } from '../../sign-in/opened-request.ts'
import { onlyOrganization } from '../../../openid/request/request-organization.ts'
import {
  closeRequest,
  emptyRegistration,
  advance,
  ongoing,
  type Progress,
  type RequestRow,
} from '../../../openid/request/request-row.ts'
import { fixedPerson, type RequestState, requestStateOf } from '../../sign-in/request-state.ts'
import { goByName } from './go-by-name.ts'
import { mayBeOffered } from '../../sign-in/passkey-offer.ts'
import { signInToRequest } from '../../sign-in/sign-in-to-request.ts'
import { isReplacedBy, renewValueFor } from '../../../sessions/browsers/session-cookie.ts'
import { Superseded } from '../../../sessions/browsers/superseded.ts'
import type { Context } from '../../../context.ts'
import { issuerOf } from '../../../directory/issuer.ts'
import { checkPassword } from '../../../directory/passwords/check-password.ts'
import type { AuthenticationMethodType } from '#gen/roster/users/v1/user_service'
import type { OfDomain } from '../../../directory/events/passkeys.ts'
import type { User } from '../../../directory/events/user.ts'
import { askedFirst } from '../../../sessions/factors/asked-first.ts'
import { factorKinds, secondFactors } from '../../../sessions/factors/kinds.ts'
import { type FactorKind, sessionKey } from '../../../sessions/events/session.ts'
import { relyingParty } from '../../../sessions/factors/passkey/relying-party.ts'
import { factors } from '../../../sessions/factors/registry.ts'
import { mailCode } from './check-code.ts'
import { askForCode, signInByCode } from './mailed-code.ts'
import { findUserById } from '../../../directory/login-names/login-user.ts'
import { surplusSessions } from '../../../sessions/surplus.ts'

export async function signIn(context: Context, request: SignInRequest, call: Call): Promise<PageAnswer> {
  const isByPassword = request.action === 'sign-in'
  const opened = await openForm(context, request, signingIn, { takesFormer: isByPassword, takesGiven: isByPassword })
  if ('answer' in opened) return opened.answer
  const { row, now } = opened
  const page = toPage(row.id)
  if (row.answer) return giveAgain(context, opened, request, call)
  if (request.action === 'cancel') {
    await closeRequest(context.sql, row.id, 'cancelled')
    return page
  }
  const next = (progress: Progress, session?: null) =>
    orUnavailable(advance(context.keys, row.id, progress, session)(context.sql))
  if (request.action === 'another-account') {
    await next({ asksName: true }, null)
    return page
  }
  if (request.action === 'register') {
    await next({ registration: emptyRegistration(request.loginName) })
    return page
  }
  if (request.action === 'name') return goByName(context, opened, request, call)
  if (request.action === 'mail-code') return askForCode(context, opened, request, call)
  if (request.action === 'check-code') return signInByCode(context, opened, request, call)
  if (request.action === 'other-name') {
    const { chosen, asksName, mailed, proved } = row.progress
    await next({ chosen, asksName, proved, ...(mailed && { loginName: mailed.loginName }) })
    return page
  }
  try {
    return await proceed(context, opened, request, call)
  } catch (error) {
    // Two clicks at once: the other one gave the answer.
    if (error instanceof Superseded) return giveLatest(context, request, call)
    const failure = failureOf(error, now)
    if (!failure) throw error
    await next({
      ...row.progress,
      loginName: request.loginName,
      keep: request.keep === 'on',
      retryAt: undefined,
      ...failure,
    })
    return page
  }
}

async function proceed(
  context: Context,
  opened: OpenedRequest,
  { loginName, password: text, keep, trust, newPasskey }: SignInRequest,
  call: Call,
): Promise<PageAnswer> {
  const state = await requestStateOf(context, opened, call)
  const known = fixedPerson(state)
  // A form of before that person was there names somebody else.
  const fixed = known && (loginName === '' || isMeant(known, loginName)) ? known : undefined
  const application = 'notice' in state ? {} : state.requested.application
  const proved = await factors.password.check(
    context,
    fixed
      ? { loginName: fixed.userName, text, find: () => findUserById(context, fixed.signedInUser.userId) }
      : { loginName, text },
    { ...call, organizationId: onlyOrganization(opened.row.parameters.scope, application) ?? '' },
  )
  const canMake = mayBeOffered(context, proved.user.state.human) ? (newPasskey as Progress['newPasskey'] | '') : ''
  const row = { ...opened.row, progress: { ...opened.row.progress, newPasskey: canMake || undefined } }
  // What is offered has a page of its own.
  const answerable = canMake || row.progress.proved ? undefined : answerableAtOnce(row, state)
  const { browser, newValue, sessionId, missingFactors, answered } = await signInToRequest(
    context,
    { ...opened, row },
    proved,
    keep === 'on',
    call,
    answerable && ((at) => prepareAnswer(context, row, answerable, proved.user, at, call)),
    trust,
  )
  const { userId, organizationId } = proved.user
  context.afterResponse.run(userId, async () => {
    await Promise.all([proved.settle?.(), surplusSessions.settle(context, userId)])
  })
  if (answered) {
    answered.log()
    return { ...leave(context, row, answered.code!), brand: answered.brand, newBrowser: newValue }
  }
  const ofDomain = { passkeyRpId: relyingParty(context.config).id }
  // Its page then has the field at once. Who has a passkey is asked for that.
  if (firstOf(missingFactors, proved.user.state, ofDomain) === 'otp-email') {
    const code = await mailCode(
      context,
      opened,
      { userId, organizationId, session: { id: sessionId, browserId: browser.id } },
      call,
    )
    await orUnavailable(advance(context.keys, row.id, { ...ongoing(row.progress), code })(context.sql))
  }
  return { ...toPage(row.id), newBrowser: newValue }
}

// The own account, an invitation and a faulty request have pages of their own.
function answerableAtOnce(
  { parameters }: RequestRow,
  state: RequestState | Unanswerable,
): (RequestedApplication & { asked: Asked }) | undefined {
  if ('notice' in state || !state.asked || state.mistake) return undefined
  if (isForOwnAccount(parameters) || parameters.invitation) return undefined
  return { ...state.requested, asked: state.asked }
}

function leave({ config }: Context, { parameters }: RequestRow, code: string): PageAnswer {
  return answerApplication(issuerOf(config), parameters, { code }, true)
}

async function giveLatest(context: Context, request: SignInRequest, call: Call): Promise<PageAnswer> {
  const opened = await openForm(context, request, signingIn, { takesFormer: true, takesGiven: true })
  if ('answer' in opened) return opened.answer
  return opened.row.answer ? giveAgain(context, opened, request, call) : toPage(opened.row.id)
}

// Two clicks, or an answer that was lost: the same right password gives the same code again, as long as it is good and was
// not redeemed. A former value of the cookie does not stand for another factor.
async function giveAgain(
  context: Context,
  { row, browser, now }: OpenedRequest,
  { loginName, password }: SignInRequest,
  call: Call,
): Promise<PageAnswer> {
  const page = toPage(row.id)
  const { code, at } = row.progress.given!
  const { userId, parameters } = row
  const { authorizationId, sealed } = readCode(context.keys, code) ?? {}
  if (!sealed || !userId || now.getTime() - Date.parse(at) > codeLifetime * 1000) return page
  const hasOther = sealed.granted.factors.some(({ kind }) => kind !== 'password')
  if (!browser.isPresent && (hasOther || !isReplacedBy(context.keys, browser, userId))) return page
  const { scope } = parameters
  const known = await loadApplication(context, { clientId: parameters.clientId })
  const organizationId = onlyOrganization(scope, known?.application ?? {}) ?? ''
  // Where the person was fixed, no name was typed.
  const attempt = loginName === '' ? { loginName: userId, find: () => findUserById(context, userId) } : { loginName }
  try {
    const { user, takeBack } = await checkPassword(context, { ...attempt, password }, { ...call, organizationId })
    await takeBack()
    if (user.userId !== userId) return page
  } catch (error) {
    if (failureOf(error, now)) return page
    throw error
  }
  const [authorization, session] = await Promise.all([
    context.store.read({ type: authorizationType, id: authorizationId! }),
    context.store.read(sessionKey(sealed.granted.sessionId)),
  ])
  if (authorization.sequence > 0 || session.state?.ended !== false) return page
  const newBrowser = browser.isPresent ? '' : renewValueFor(context.keys, browser, userId).newValue
  return { ...(await branded(context, leave(context, row, code), parameters)), newBrowser }
}

// The second factor that the page asks for.
function firstOf(missing: readonly AuthenticationMethodType[], user: User, policy: OfDomain): FactorKind | undefined {
  const kinds = secondFactors.filter((kind) => missing.includes(factorKinds[kind].method))
  return kinds.length > 0 ? askedFirst(kinds, user, policy) : undefined
}

/** What the page says of a factor that failed. Undefined: the error is another one. */
export function failureOf(error: unknown, now: Date): Pick<Progress, 'error' | 'retryAt'> | undefined {
  if (!(error instanceof RosterError)) return undefined
  if (error.reason === 'CREDENTIALS_INVALID') return { error: SignInError.SIGN_IN_ERROR_CREDENTIALS_INVALID }
  if (!['SIGN_IN_THROTTLED', 'PASSWORDS_THROTTLED'].includes(error.reason)) return undefined
  const retryAt = new Date(now.getTime() + (error.retryAfter ?? 1) * 1000).toISOString()
  return { error: SignInError.SIGN_IN_ERROR_THROTTLED, retryAt }
}

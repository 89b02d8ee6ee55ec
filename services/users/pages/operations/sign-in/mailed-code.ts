import { randomUUID } from 'node:crypto'
import { CodeError, type PageAnswer, type SignInRequest } from '#gen/roster/users/v1/sign_in_service'
import { orUnavailable } from '#lib/database/database'
import { RosterError } from '#lib/errors'
import { countLimit, limitsHit } from '#lib/limits-hit'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../../context.ts'
import { findUserById } from '../../../directory/login-names/login-user.ts'
import { findLoginUser } from '../../../directory/login-names/meaning.ts'
import { networkOf, rateLimitsFor, takeFromBuckets } from '../../../directory/rate-limits/token-buckets.ts'
import { findCode } from '../../../directory/secrets/one-time-codes.ts'
import { isMeant } from '../../../openid/authorization/candidates.ts'
import { toPage } from '../../../openid/authorization/answer.ts'
import { advance, type MailedSignIn } from '../../../openid/request/request-row.ts'
import { Superseded } from '../../../sessions/browsers/superseded.ts'
import { purpose } from '../../../sessions/factors/mailed-code/mailed-code.ts'
import { keepNoCode, sendSignInCode } from '../../../sessions/factors/mailed-code/send-code.ts'
import { factors } from '../../../sessions/factors/registry.ts'
import { loadLoginPolicy } from '../../../sessions/login-policy/load-login-policy.ts'
import { surplusSessions } from '../../../sessions/surplus.ts'
import { forgetfulCall } from '../../recovery/forgetful-call.ts'
import { limitsOf, workFor } from '../../recovery/request-password-reset.ts'
import { asksForCode } from '../../sign-in/asks-for-code.ts'
import { openForm, type OpenedRequest, signingIn } from '../../sign-in/opened-request.ts'
import { fixedPerson, requestStateOf } from '../../sign-in/request-state.ts'
import { signInToRequest } from '../../sign-in/sign-in-to-request.ts'

/**
 * Answers before anybody is looked up, as Recover does: neither the answer nor its time, nor what a try of the code costs,
 * depends on whether the name exists.
 */
export async function askForCode(
  context: Context,
  opened: OpenedRequest,
  { loginName: typed, keep }: SignInRequest,
  call: Call,
): Promise<PageAnswer> {
  const { row, browser } = opened
  const page = toPage(row.id)
  if (!browser.isPresent) return page
  const state = await requestStateOf(context, opened, call)
  if (!(await asksForCode(context, opened, state))) return page
  const known = fixedPerson(state)
  // A form of before that person was there names somebody else.
  const person = known && (typed === '' || isMeant(known, typed)) ? known : undefined
  const loginName = person?.knownName ?? typed
  const { chosen, asksName, proved } = row.progress
  const common = { chosen, asksName, proved, keep: keep === 'on' }
  const next = (progress: object) => orUnavailable(advance(context.keys, row.id, progress)(context.sql))
  if (loginName.trim() === '') {
    await next({ ...common, loginName: '' })
    return page
  }
  const mailed: MailedSignIn = { loginName, codeId: randomUUID(), userId: person?.signedInUser.userId }
  const work = { ...(await forgetfulCall(context, opened, call)), deadline: Date.now() + workFor }
  const place = { id: row.id, browserId: browser.id }
  await keepNoCode(context, mailed.codeId, place)
  await next({ ...common, mailed })
  const lane = networkOf(call.clientAddress) ?? call.clientAddress
  context.afterResponse.run(lane, () => mail(context, mailed, place, work))
  return page
}

// Whoever gets none is answered as everybody else.
async function mail(
  context: Context,
  { loginName, codeId, userId }: MailedSignIn,
  place: { id: string; browserId: string },
  call: Call,
): Promise<void> {
  // The caller learns of no limit. So only these counts show it to the operator.
  if (await takeFromBuckets(context.sql, rateLimitsFor(context.keys, limitsOf(call.clientAddress, 'sign-in codes')))) {
    limitsHit.add(1, 'sign_in_codes')
    return
  }
  const user = await (userId === undefined ? findLoginUser(context, loginName, call) : findUserById(context, userId))
  if (!user || !(await loadLoginPolicy(context, user.organizationId)).factors.includes('mailed-code')) return
  try {
    await sendSignInCode(context, user, { codeId, place, how: { requestId: place.id } }, call)
  } catch (error) {
    if (!(error instanceof RosterError) || !['FACTOR_NOT_AVAILABLE', 'MAILS_THROTTLED'].includes(error.reason))
      throw error
    countLimit(error)
  }
}

/** Signs in by the code that this request, in this browser, asked for last. */
export async function signInByCode(
  context: Context,
  opened: OpenedRequest,
  request: SignInRequest,
  call: Call,
): Promise<PageAnswer> {
  const { row, browser } = opened
  const page = toPage(row.id)
  const { mailed } = row.progress
  // The former value of the cookie has no code.
  if (!mailed || !browser.isPresent) return page
  const { codeId } = mailed
  const given = {
    loginName: mailed.loginName,
    text: request.code ?? '',
    session: { id: row.id, browserId: browser.id },
  }
  try {
    const proved = await factors['mailed-code'].check(context, { ...given, code: codeId }, call)
    const { newValue } = await signInToRequest(
      context,
      opened,
      proved,
      request.keep === 'on',
      call,
      undefined,
      request.trust,
    )
    const { userId } = proved.user
    context.afterResponse.run(userId, () => surplusSessions.settle(context, userId))
    return { ...page, newBrowser: newValue }
  } catch (error) {
    if (error instanceof Superseded) return page
    if (!(error instanceof RosterError) || !refusals.includes(error.reason)) throw error
    return again(context, request, codeId)
  }
}

const refusals = ['CODE_INVALID', 'CREDENTIALS_INVALID', 'FACTOR_NOT_AVAILABLE']

// Of two clicks at once, the other one may have gone on with the request.
async function again(context: Context, request: SignInRequest, codeId: string): Promise<PageAnswer> {
  const opened = await openForm(context, request, signingIn)
  if ('answer' in opened) return opened.answer
  const { row } = opened
  const { mailed } = row.progress
  if (mailed?.codeId !== codeId) return toPage(row.id)
  const isOver = !(await findCode(context, purpose, { codeId }))
  const error = isOver ? CodeError.CODE_ERROR_OVER : CodeError.CODE_ERROR_WRONG
  const progress = { ...row.progress, keep: request.keep === 'on', mailed: { ...mailed, error } }
  await orUnavailable(advance(context.keys, row.id, progress)(context.sql))
  return toPage(row.id)
}

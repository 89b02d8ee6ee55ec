import { type PageAnswer, SignInError, type SignInRequest } from '#gen/roster/users/v1/sign_in_service'
import { orUnavailable } from '#lib/database/database'
import { RosterError } from '#lib/errors'
import type { Call } from '#lib/rpc/headers'
import { toPage } from '../../openid/authorization/answer.ts'
import { openForm, type OpenedRequest, signingIn } from '../sign-in/opened-request.ts'
import { onlyOrganization } from '../../openid/request/request-organization.ts'
import { closeRequest, emptyRegistration, advance, type Progress } from '../../openid/request/request-row.ts'
import { fixedPerson, requestStateOf } from '../sign-in/request-state.ts'
import { signInToRequest } from '../sign-in/sign-in-to-request.ts'
import { Superseded } from '../../sessions/browsers/superseded.ts'
import type { Context } from '../../context.ts'
import { factorKinds } from '../../sessions/factors/kinds.ts'
import { factors } from '../../sessions/factors/registry.ts'
import { mailCode } from './check-code.ts'
import { findUserById } from '../../directory/login-names/login-user.ts'
import { surplusSessions } from '../../sessions/surplus.ts'

export async function signIn(context: Context, request: SignInRequest, call: Call): Promise<PageAnswer> {
  const opened = await openForm(context, request, signingIn, { takesFormer: request.action === 'sign-in' })
  if ('answer' in opened) return opened.answer
  const { row, now } = opened
  const page = toPage(row.id)
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
  try {
    return { ...page, newBrowser: await proceed(context, opened, request, call) }
  } catch (error) {
    if (error instanceof Superseded) return page
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

// Returns the new value of the cookie.
async function proceed(
  context: Context,
  opened: OpenedRequest,
  { loginName, password: text, keep }: SignInRequest,
  call: Call,
): Promise<string> {
  const { row } = opened
  const state = await requestStateOf(context, opened, call)
  const fixed = fixedPerson(state)
  const application = 'notice' in state ? {} : state.requested.application
  const proved = await factors.password.check(
    context,
    // It counts for the chosen person, whatever name was typed.
    fixed
      ? { loginName: fixed.userName, text, find: () => findUserById(context, fixed.signedInUser.userId) }
      : { loginName, text },
    { ...call, organizationId: onlyOrganization(row.parameters.scope, application) ?? '' },
  )
  const { browser, newValue, sessionId, missingFactors } = await signInToRequest(
    context,
    opened,
    proved,
    keep === 'on',
    call,
  )
  const { userId, organizationId } = proved.user
  await Promise.all([proved.settle?.(), surplusSessions.settle(context, userId)])
  // Its page then has the field at once. Who has a passkey is asked for that.
  const byCode = missingFactors.includes(factorKinds['otp-email'].method)
  if (byCode && !missingFactors.includes(factorKinds.passkey.method)) {
    const code = await mailCode(
      context,
      opened,
      { userId, organizationId, session: { id: sessionId, browserId: browser.id } },
      call,
    )
    await orUnavailable(advance(context.keys, row.id, { chosen: true, code })(context.sql))
  }
  return newValue
}

/** What the page says of a factor that failed. Undefined: the error is another one. */
export function failureOf(error: unknown, now: Date): Pick<Progress, 'error' | 'retryAt'> | undefined {
  if (!(error instanceof RosterError)) return undefined
  if (error.reason === 'CREDENTIALS_INVALID') return { error: SignInError.SIGN_IN_ERROR_CREDENTIALS_INVALID }
  if (!['SIGN_IN_THROTTLED', 'PASSWORDS_THROTTLED'].includes(error.reason)) return undefined
  const retryAt = new Date(now.getTime() + (error.retryAfter ?? 1) * 1000).toISOString()
  return { error: SignInError.SIGN_IN_ERROR_THROTTLED, retryAt }
}

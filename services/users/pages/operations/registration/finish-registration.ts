import {
  type FinishRegistrationRequest,
  type PageAnswer,
  RegistrationError,
  SignInError,
} from '#gen/roster/users/v1/sign_in_service'
import { orUnavailable } from '#lib/database/database'
import { RosterError } from '#lib/errors'
import type { Call } from '#lib/rpc/headers'
import { toPage } from '../../../openid/authorization/answer.ts'
import { openForm, type OpenedRequest, signingIn } from '../../sign-in/opened-request.ts'
import { readRequest } from '../../../openid/request/read-request.ts'
import { advance, findRequest, type Progress, stillOpen } from '../../../openid/request/request-row.ts'
import { isSignIn } from '../../../openid/request/parameters.ts'
import { findBrowser, isReplacedBy } from '../../../sessions/browsers/session-cookie.ts'
import { Superseded } from '../../../sessions/browsers/superseded.ts'
import { factors } from '../../../sessions/factors/registry.ts'
import { findUserById } from '../../../directory/login-names/login-user.ts'
import { failureOf } from '../sign-in/sign-in.ts'
import { signInToRequest } from '../../sign-in/sign-in-to-request.ts'
import type { Context } from '../../../context.ts'
import { deriveCode, matchesCode } from '../../../directory/email/code.ts'
import { addRegistered, OrganizationClosed } from '../../registration/add-registered.ts'
import { AddressTaken } from '../../../directory/login-names/address-holder.ts'
import { registeringOrganization } from '../../../openid/request/registering-organization.ts'
import { findRegistration, type StoredRegistration } from '../../registration/registration.ts'
import { countTryFrom, mayTry } from '../../registration/registration-limits.ts'
import { findFault } from '../../registration/typed-registration.ts'
import { provedMailbox } from '../../../sessions/factors/mailed-code/proved-mailbox.ts'
import { provedPassword } from '../../../sessions/factors/password/password.ts'
import { loadLoginPolicy } from '../../../sessions/login-policy/load-login-policy.ts'
import { openBrowserSession } from '../../../sessions/open-browser-session.ts'
import { isWeak } from '../../../directory/passwords/refuse-weak-password.ts'
import { rememberAddress } from '../../../directory/rate-limits/known-addresses.ts'
import { networkOf } from '../../../directory/rate-limits/token-buckets.ts'

/** The password comes with the code, so that none is kept of a person who has not proved anything. */
export async function finishRegistration(
  context: Context,
  request: FinishRegistrationRequest,
  call: Call,
): Promise<PageAnswer> {
  const opened = await openForm(context, request, signingIn, { takesFormer: request.action !== 'back' })
  if ('answer' in opened) return opened.answer
  const { row, now } = opened
  const page = toPage(row.id)
  if (!opened.browser.isPresent) return giveAgain(context, opened, request, call)
  const typed = row.progress.registration
  if (!typed?.isMailed) return page
  const next = async (progress: Progress) => {
    await orUnavailable(advance(context.keys, row.id, progress)(context.sql))
    return page
  }
  const { email, givenName, familyName, language } = typed
  const given = { email, givenName, familyName, language }
  if (request.action === 'back') return next({ registration: given })
  const again = async (error: RegistrationError, wait?: number) => {
    const overtaken = await openForm(context, request, signingIn, { takesFormer: true })
    if ('answer' in overtaken) return overtaken.answer
    if (!overtaken.browser.isPresent) return giveAgain(context, overtaken, request, call)
    const retryAt = wait !== undefined && { retryAt: new Date(now.getTime() + wait * 1000).toISOString() }
    return next({ keep: request.keep === 'on', registration: { ...given, isMailed: true, error, ...retryAt } })
  }
  const closed = () => next({ loginName: email, error: SignInError.SIGN_IN_ERROR_REGISTRATION_CLOSED })
  const registration = await findRegistration(context, row.id)
  const isByMail = await wantsNoPassword(context, registration)
  const isWrong = findFault(given, registration && !isByMail ? request.password : undefined)
  if (isWrong !== undefined) return again(isWrong)
  const wait = await countTryFrom(context, call.clientAddress)
  if (wait !== undefined) return again(RegistrationError.REGISTRATION_ERROR_THROTTLED, wait)
  // It costs no try of the code.
  if (!isByMail && isWeak(request.password, { email, profile: { firstName: givenName, lastName: familyName } }))
    return again(RegistrationError.REGISTRATION_ERROR_PASSWORD_TOO_COMMON)
  if (!registration || !(await mayTry(context, registration.code.codeId)))
    return again(RegistrationError.REGISTRATION_ERROR_CODE_OVER)
  const code = deriveCode(context.keys, registration.code, row.id, registration.email, 'registration-code')
  if (!matchesCode(request.code, code)) return again(RegistrationError.REGISTRATION_ERROR_CODE_WRONG)
  if (!(await isStillOpen(context, opened, registration, call))) return closed()
  try {
    return { ...page, newBrowser: await signUp(context, opened, { registration, request, isByMail }, call) }
  } catch (error) {
    const { browser } = await findBrowser(context.sql, opened.value)
    if (browser?.isPresent === false) return giveAgain(context, { ...opened, browser }, request, call)
    if (error instanceof Superseded) return page
    if (error instanceof OrganizationClosed) return closed()
    if (error instanceof AddressTaken) return next({ loginName: email, error: SignInError.SIGN_IN_ERROR_ADDRESS_TAKEN })
    if (!(error instanceof RosterError) || error.reason !== 'PASSWORDS_THROTTLED') throw error
    return again(RegistrationError.REGISTRATION_ERROR_THROTTLED, error.retryAfter ?? 1)
  }
}

// The code was used: the password alone gives the answer again, to the person whose registration replaced the cookie.
async function giveAgain(
  context: Context,
  { browser, value, row: { id }, now }: OpenedRequest,
  { password: text, keep }: FinishRegistrationRequest,
  call: Call,
): Promise<PageAnswer> {
  const page = toPage(id)
  const row = await findRequest(context, id, { browserId: browser.id }, isSignIn)
  const userId = row?.userId
  if (!userId || !isReplacedBy(context.keys, browser, userId)) return page
  const user = await findUserById(context, userId)
  if (!user) return page
  const loginName = user.state.userName
  try {
    const attempt = { loginName, text, find: () => Promise.resolve(user) }
    const proved = await factors.password.check(context, attempt, call)
    const { newValue } = await signInToRequest(context, { row, browser, value }, proved, keep === 'on', call)
    await proved.settle?.()
    return { ...page, newBrowser: newValue }
  } catch (error) {
    if (error instanceof Superseded) return page
    const failure = failureOf(error, now)
    if (!failure) throw error
    await orUnavailable(advance(context.keys, id, { ...row.progress, ...failure })(context.sql))
    return page
  }
}

async function isStillOpen(
  context: Context,
  { row }: OpenedRequest,
  { organizationId }: StoredRegistration,
  call: Call,
): Promise<boolean> {
  const reading = await readRequest(context, row.parameters, call)
  return 'asked' in reading && (await registeringOrganization(context, reading)) === organizationId
}

// The policy of the organization is the one of the person from then on.
async function wantsNoPassword(context: Context, registration: StoredRegistration | undefined): Promise<boolean> {
  if (!registration) return false
  return (await loadLoginPolicy(context, registration.organizationId)).factors.includes('mailed-code')
}

// Returns the new value of the cookie.
async function signUp(
  context: Context,
  { row, browser }: OpenedRequest,
  {
    registration,
    request: { password, keep },
    isByMail,
  }: { registration: StoredRegistration; request: FinishRegistrationRequest; isByMail: boolean },
  call: Call,
): Promise<string> {
  const lane = networkOf(call.clientAddress) ?? call.clientAddress
  const hash = isByMail ? null : await context.passwordHashes.hash(password, { lane, deadline: call.deadline })
  const guards = [stillOpen(row.id)]
  // Should the rest fail, the user signs in by this page.
  const writes = [advance(context.keys, row.id, { loginName: registration.email })]
  const user = await addRegistered(context, registration, { requestId: row.id, hash, writes, guards }, call)
  const { newValue } = await openBrowserSession(
    context,
    isByMail ? provedMailbox(user) : provedPassword(user),
    browser,
    {
      writes: (session) => [advance(context.keys, row.id, { chosen: true }, session)],
      guards,
      clientId: row.parameters.clientId,
      keep: keep === 'on',
    },
    call,
  )
  await rememberAddress(context, user.userId, call.clientAddress, undefined).catch((error: unknown) =>
    context.log.warn({ err: error }, 'work after a registration failed'),
  )
  return newValue
}

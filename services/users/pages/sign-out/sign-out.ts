import { NoticeReason, type PageAnswer } from '#gen/roster/users/v1/sign_in_service'
import type { Call } from '#lib/rpc/headers'
import { notice, redirect, show, withQuery } from '../../openid/authorization/answer.ts'
import { branded } from '../sign-in/branded.ts'
import type { Visit } from '../../openid/authorization/begin.ts'
import { type OpenedRequest, signingOut } from '../sign-in/opened-request.ts'
import type { SignOutParameters } from '../../openid/request/parameters.ts'
import { hostOf, originOf } from '../../openid/request/redirect-uri.ts'
import { beginRequest, closeRequest, type LeavesBy } from '../../openid/request/request-row.ts'
import { formToken } from '../../sessions/browsers/form-token.ts'
import type { Context } from '../../context.ts'
import { endSessions } from '../../sessions/browsers/end-sessions.ts'
import { readSignOut, type SignOutReading } from '../../openid/logout/read-sign-out.ts'
import { tellMistake } from '../../openid/logout/tell-mistake.ts'
import { leavesBy, signOutThere } from './sign-out-there.ts'
import { type SignedIn, signedInAccounts } from './signed-in-accounts.ts'

/** Signs out at once where the hint suffices; otherwise a page is to ask. */
export async function beginSignOut(
  context: Context,
  parameters: SignOutParameters,
  visit: Visit,
  call: Call,
): Promise<PageAnswer> {
  const { browser } = visit
  const reading = await readSignOut(context, parameters, call)
  if (reading.clientId !== '' && !reading.mistake) context.arrivals.step(reading.clientId, 'sign-out')
  const tell = (page: PageAnswer) => tellMistake(context, page, parameters, reading, call)
  if (reading.loginBaseUri !== undefined) return tell(toLoginApplication(reading.loginBaseUri, reading, parameters))
  // The former value of a cookie ends nothing: the browser asks for the page with the present one.
  if (browser && !browser.isPresent) return ask(call.clientAddress)
  const accounts = await signedInAccounts(context, browser)
  const step = nextStep(reading, accounts)
  if (step === 'ask') return ask('')
  const next = step === 'gone' ? undefined : await leavesBy(context, [step.ends])
  const newBrowser = step === 'gone' ? '' : await endSessions(context, browser!, [step.ends], call)
  const page = await goneBy(context, next, { reading, parameters, way: reading.hint ? 'at-once' : 'link' }, call)
  return { ...(await inBrand(context, tell(page), reading)), newBrowser }

  async function ask(address: string) {
    const id = await beginRequest(context, { parameters, browserId: browser!.id, address })
    return signingOut.toPage(id)
  }
}

/** The page of a sign-out. Where nothing is left to be asked, that is the way back. */
export async function showSignOutPage(
  context: Context,
  opened: OpenedRequest<SignOutParameters>,
  call: Call,
): Promise<PageAnswer> {
  const reading = await readSignOut(context, opened.row.parameters, call)
  return inBrand(context, await nextPage(context, opened, reading, call), reading)
}

function inBrand(context: Context, page: PageAnswer, { clientId }: SignOutReading): Promise<PageAnswer> {
  return branded(context, page, { clientId, scope: '' })
}

async function nextPage(
  context: Context,
  opened: OpenedRequest<SignOutParameters>,
  reading: SignOutReading,
  call: Call,
): Promise<PageAnswer> {
  const { browser, row } = opened
  const { parameters, progress, answer, isOver } = row
  if (answer === 'cancelled') return stayed(reading, parameters)
  if (answer === 'given') return goneFrom(reading, parameters, 'link')
  if (progress.decision === 'allowed') return leave(progress.leavesBy)
  if (isOver) return beginSignOut(context, parameters, opened, call)
  // The former value of a cookie does not say who is signed in, and ends nothing.
  if (!browser.isPresent) return stayed(reading, parameters)
  const accounts = await signedInAccounts(context, browser)
  const step = nextStep(reading, accounts)
  if (step === 'gone') return leave(undefined)
  if (step !== 'ask') {
    const next = await leavesBy(context, [step.ends])
    const newBrowser = await endSessions(context, browser, [step.ends], call)
    return { ...(await leave(next)), newBrowser }
  }
  const { returnUri, applicationName } = reading
  const page = show({ $case: 'signOut', value: pageOf(reading, parameters, accounts) })
  return {
    ...tellMistake(context, page, parameters, reading, call),
    formToken: formToken(context.keys, browser.id, row.id),
    requestId: row.id,
    uiLocales: parameters.uiLocales,
    destination: returnUri === '' ? undefined : { applicationName, host: hostOf(returnUri) },
  }

  // Once by itself, then by a link.
  async function leave(next: LeavesBy | undefined) {
    const way = (await closeRequest(context.sql, row.id, 'given')) ? 'from-page' : 'link'
    return goneBy(context, next, { reading, parameters, way }, call)
  }
}

/** `gone`: the person who is meant is not signed in here. */
type Step = 'ask' | 'gone' | { ends: SignedIn }

function nextStep({ hint, isUnregistered }: SignOutReading, accounts: SignedIn[]): Step {
  if (accounts.length === 0) return 'gone'
  // Who is sent nowhere learns why, from a page.
  if (!hint || isUnregistered) return 'ask'
  const own = accounts.find(({ sessionId }) => sessionId === hint.sid)
  if (own) return { ends: own }
  return accounts.some(({ userId }) => userId === hint.sub) ? 'ask' : 'gone'
}

const noMistake = { mistake: undefined, clientId: '', redirectUri: '', nearestRedirectUri: '' }

function pageOf(
  { hint, isUnregistered, clientId }: SignOutReading,
  { logoutHint }: SignOutParameters,
  accounts: SignedIn[],
) {
  const meant = accounts.filter(({ userId, sessionId, loginName }) =>
    hint ? userId === hint.sub : [userId, sessionId, loginName].includes(logoutHint),
  )
  return {
    accounts: meant.length > 0 ? meant : accounts,
    offersAll: accounts.length !== 1,
    uriUnregistered: isUnregistered,
    applicationUnknown: clientId === '',
    ...noMistake,
  }
}

// Its sessions are none of this browser. The names are those that ZITADEL's login application reads.
function toLoginApplication(
  baseUri: string,
  { returnUri }: SignOutReading,
  { state, logoutHint, uiLocales }: SignOutParameters,
): PageAnswer {
  const back = returnUri && withQuery(returnUri, state === '' ? {} : { state })
  const all = { post_logout_redirect: back, logout_hint: logoutHint, ui_locales: uiLocales }
  const sent = Object.entries(all).filter(([, value]) => value !== '')
  return redirect(withQuery(`${baseUri.replace(/\/$/, '')}/logout`, Object.fromEntries(sent)))
}

interface Gone {
  reading: SignOutReading
  parameters: SignOutParameters
  way: 'at-once' | 'from-page' | 'link'
}

// By the provider, once. Who comes back from there by the button of the browser finds the link to the application.
async function goneBy(context: Context, next: LeavesBy | undefined, gone: Gone, call: Call): Promise<PageAnswer> {
  const { reading, parameters, way } = gone
  const page = goneFrom(reading, parameters, way)
  if (!next || way === 'link') return page
  const { uiLocales } = parameters
  const back = { location: wayBack(reading, parameters), clientId: reading.clientId, uiLocales }
  const location = await signOutThere(context, next, back, call)
  if (location === undefined) return page
  return way === 'at-once' ? redirect(location) : { ...show({ $case: 'leaving', value: { location } }), uiLocales }
}

function wayBack({ returnUri }: SignOutReading, { state }: SignOutParameters): string {
  return returnUri && withQuery(returnUri, state === '' ? {} : { state })
}

function goneFrom(reading: SignOutReading, parameters: SignOutParameters, way: Gone['way']): PageAnswer {
  const { uiLocales } = parameters
  const location = wayBack(reading, parameters)
  if (location === '' || way === 'link')
    return { ...notice(NoticeReason.NOTICE_REASON_SIGNED_OUT, { location }), uiLocales }
  return way === 'at-once' ? redirect(location) : { ...show({ $case: 'leaving', value: { location } }), uiLocales }
}

function stayed({ returnUri }: SignOutReading, { uiLocales }: SignOutParameters): PageAnswer {
  const applicationOrigin = originOf(returnUri)
  return { ...notice(NoticeReason.NOTICE_REASON_STILL_SIGNED_IN, { applicationOrigin }), uiLocales }
}

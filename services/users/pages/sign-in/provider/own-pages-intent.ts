import { type PageAnswer, type ReturnFromProviderRequest, SignInError } from '#gen/roster/users/v1/sign_in_service'
import { orUnavailable, readNow } from '#lib/database/database'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../../context.ts'
import { singleUse, useUp } from '../../../directory/secrets/single-use.ts'
import { redirect } from '../../../openid/authorization/answer.ts'
import { findBrowser } from '../../../sessions/browsers/session-cookie.ts'
import { findLinked } from '../../../sessions/factors/provider/provider.ts'
import {
  advanceIntent,
  dropIntent,
  findBegunIntent,
  type Intent,
  proveIntent,
} from '../../../sessions/intents/intent-rows.ts'
import { requestUnknown } from '../way-back.ts'
import { finishAtProvider } from './finish-at-provider.ts'
import { answerTo, isOf, partsOf, saidIn } from './provider-answer.ts'

/** What the state of a sign-in begins with that a login application began. */
const prefix = 'intent.'

export function isOfOwnPages(state: string): boolean {
  return state.startsWith(prefix)
}

/** The part of the state that names it. */
export function stateIdOf({ id }: Pick<Intent, 'id'>): string {
  return `${prefix}${id}`
}

/**
 * A provider has answered a sign-in that a login application began, in the browser that opened it: leads there, with the token of
 * what was proved. Nobody is signed in to Roster by it.
 */
export async function returnToOwnPages(
  context: Context,
  request: ReturnFromProviderRequest,
  call: Call,
): Promise<PageAnswer> {
  const { idpId, state, posted } = request
  const { requestId: id, secret } = partsOf(state.slice(prefix.length))
  const intent = await findBegunIntent(context, id)
  const begun = intent?.progress.begun
  if (!intent || intent.browserId === null || !isOf(begun, idpId, secret)) return requestUnknown(context)
  if (posted) {
    // It comes across sites without the cookie: the first one is kept, and the browser comes for it with the cookie.
    const at = (await orUnavailable(readNow(context.sql))).toISOString()
    const kept = { ...intent.progress, begun: { ...begun, posted: { answer: saidIn(request), at } } }
    if (!begun.posted) await advanceIntent(context, id, intent.browserId, kept)
    return redirect(`/ui/login/idps/${encodeURIComponent(idpId)}/callback?state=${encodeURIComponent(state)}`)
  }
  const { browser } = await findBrowser(context.sql, request.browser)
  if (browser?.id !== intent.browserId) return requestUnknown(context)
  // Before the provider is asked: it gets the code, and the client secret, once.
  if (!(await useUp(context.sql, singleUse('provider_answer', begun.secret, intent.expiresAt.getTime() / 1000))))
    return requestUnknown(context)
  const place = { row: { id: stateIdOf(intent), beganAt: intent.beganAt }, now: intent.now }
  const proved = await finishAtProvider(context, place, begun, answerTo(begun, request, intent.now), call, true)
  if (typeof proved === 'number') return refuse(context, intent, proved)
  const { issuer, subject, provedAt, counted, claims, isAutoUpdate, roles, sid, said } = proved
  const userName = (claims.preferredUsername || claims.email || claims.name).slice(0, 200)
  const person = { idpId: begun.idpId, issuer, subject, provedAt, counted, sid }
  const at = intent.now.toISOString()
  const token = await proveIntent(context, intent, { ...person, userName, claims, isAutoUpdate, roles, said, at })
  if (token === undefined) return requestUnknown(context)
  const user = await findLinked(context, person)
  return redirect(withPairs(intent.progress.successUrl, { id, token, ...(user && { user: user.userId }) }))
}

/** Leads to the page of a login application that says what is wrong. The sign-in is over. */
export async function refuse(context: Context, { id, progress }: Intent, why: SignInError): Promise<PageAnswer> {
  await dropIntent(context, id)
  const [error, description] = words[why] ?? invalid
  return redirect(withPairs(progress.failureUrl, { id, error, error_description: description }))
}

const invalid = ['server_error', 'The answer of the identity provider could not be accepted.'] as const
const words: Partial<Record<SignInError, readonly [string, string]>> = {
  [SignInError.SIGN_IN_ERROR_PROVIDER_DENIED]: ['access_denied', 'The sign-in was cancelled at the identity provider.'],
  [SignInError.SIGN_IN_ERROR_PROVIDER_NOT_AVAILABLE]: [
    'temporarily_unavailable',
    'The identity provider cannot be used now.',
  ],
  [SignInError.SIGN_IN_ERROR_PROVIDER_THROTTLED]: ['temporarily_unavailable', 'Too many sign-ins came from there.'],
  [SignInError.SIGN_IN_ERROR_PROVIDER_NOT_FRESH]: ['login_required', 'The sign-in is older than was asked for.'],
}

function withPairs(address: string, pairs: Record<string, string>): string {
  const url = new URL(address)
  for (const [name, value] of Object.entries(pairs)) url.searchParams.set(name, value)
  return url.href
}

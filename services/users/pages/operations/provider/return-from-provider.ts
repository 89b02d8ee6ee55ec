import { type PageAnswer, type ReturnFromProviderRequest, SignInError } from '#gen/roster/users/v1/sign_in_service'
import { orUnavailable } from '#lib/database/database'
import { RosterError } from '#lib/errors'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../../context.ts'
import { toPage } from '../../../openid/authorization/answer.ts'
import { singleUse, useUp } from '../../../directory/secrets/single-use.ts'
import { advance } from '../../../openid/request/request-row.ts'
import { isActive } from '../../../directory/states/user-state.ts'
import { Superseded } from '../../../sessions/browsers/superseded.ts'
import { sealTokens } from '../../../sessions/factors/provider/kept-tokens.ts'
import { findLinked, provedProvider } from '../../../sessions/factors/provider/provider.ts'
import type { Session } from '../../../sessions/events/session.ts'
import { surplusSessions } from '../../../sessions/surplus.ts'
import { openRequest, type OpenedRequest, signingIn } from '../../sign-in/opened-request.ts'
import { finishAtProvider } from '../../sign-in/provider/finish-at-provider.ts'
import { isOfOwnPages, returnToOwnPages } from '../../sign-in/provider/own-pages-intent.ts'
import { answerTo, isOf, keepPosted, partsOf } from '../../sign-in/provider/provider-answer.ts'
import { followProvider } from '../../../sessions/follow-provider.ts'
import { firstSignIn } from '../../sign-in/provider/first-sign-in.ts'
import { linkByDomain } from '../../sign-in/provider/link-by-domain.ts'
import { noteRefusal } from '../../sign-in/provider/note-refusal.ts'
import { isTrial, showTrial } from './show-trial.ts'
import { type SignedInTo, signInToRequest } from '../../sign-in/sign-in-to-request.ts'
import { requestUnknown } from '../../sign-in/way-back.ts'

export async function returnFromProvider(
  context: Context,
  request: ReturnFromProviderRequest,
  call: Call,
): Promise<PageAnswer> {
  const { browser, idpId, state, posted } = request
  if (isTrial(state)) return showTrial(context, request, call)
  if (isOfOwnPages(state)) return returnToOwnPages(context, request, call)
  if (posted) return keepPosted(context, request)
  const { requestId, secret } = partsOf(state)
  const opened = await openRequest(context, { browser, requestId }, signingIn)
  if (!opened) return requestUnknown(context)
  const { row, now } = opened
  const page = toPage(row.id)
  const begun = row.progress.provider
  // Another tab has gone on, or the answer comes again: the page of the request says what comes next.
  if (row.answer || row.isOver || !isOf(begun, idpId, secret)) return page
  // Before the provider is asked: it gets the code, and the client secret, once.
  if (!(await useUp(context.sql, singleUse('provider_answer', begun.secret, row.expiresAt.getTime() / 1000))))
    return page
  try {
    const proved = await finishAtProvider(context, opened, begun, answerTo(begun, request, now), call)
    if (typeof proved === 'number') return await fail(context, opened, proved, call)
    const user = (await findLinked(context, proved)) ?? (await linkByDomain(context, opened, proved, call))
    if (!user) return await firstSignIn(context, opened, proved, call)
    if (!isActive(user.state)) context.failureCounts.note(user.userId, 'user-not-active')
    const sealedTokens = await sealTokens(context, { userId: user.userId, idpId }, proved.tokens)
    const factor = provedProvider(user, { ...proved, sealedTokens })
    const to = withoutBegun(opened)
    const signedIn = await signInToRequest(context, to, factor, begun.keep, call, undefined, request.trust)
    const isComplete = await isProved(context, signedIn, request.trust)
    await followProvider(context, user, { ...proved, at: opened.now }, isComplete, call)
    context.afterResponse.run(user.userId, () => surplusSessions.settle(context, user.userId))
    return { ...page, newBrowser: signedIn.newValue }
  } catch (error_) {
    if (error_ instanceof Superseded) return page
    if (!(error_ instanceof RosterError) || error_.reason !== 'CREDENTIALS_INVALID') throw error_
    return fail(context, opened, SignInError.SIGN_IN_ERROR_PROVIDER_REFUSED, call)
  }
}

// Whether all factors were proved: what a trusted browser stands in for was not.
async function isProved({ store }: Context, { sessionId, missingFactors }: SignedInTo, trust: string) {
  if (missingFactors.length > 0 || trust === '') return missingFactors.length === 0
  return (await store.load<Session>('session', sessionId))?.state.trustId === undefined
}

function withoutBegun(opened: OpenedRequest): OpenedRequest {
  const { provider: _, proved: __, error: ___, ...progress } = opened.row.progress
  return { ...opened, row: { ...opened.row, progress } }
}

// Another answer may have gone on with the request meanwhile.
async function fail(context: Context, opened: OpenedRequest, error: SignInError, call: Call): Promise<PageAnswer> {
  const { row, browser } = opened
  await noteRefusal(context, opened, { idpId: row.progress.provider!.idpId, error }, call)
  const latest = await openRequest(context, { browser: opened.value, requestId: row.id }, signingIn)
  if (browser.isPresent && latest?.row.progress.provider?.secret === row.progress.provider?.secret) {
    const { progress } = withoutBegun(opened).row
    await orUnavailable(advance(context.keys, row.id, { ...progress, error })(context.sql))
  }
  return toPage(row.id)
}

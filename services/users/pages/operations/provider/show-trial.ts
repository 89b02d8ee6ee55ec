import type { PageAnswer, ReturnFromProviderRequest } from '#gen/roster/users/v1/sign_in_service'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../../context.ts'
import { redirect, show } from '../../../openid/authorization/answer.ts'
import { isAllowed } from '../../../openid/judge/judge.ts'
import { findBrowser } from '../../../sessions/browsers/session-cookie.ts'
import { findPeople } from '../../account/open-account.ts'
import { requestUnknown } from '../../sign-in/way-back.ts'
import { saidIn, valuesOf } from '../../sign-in/provider/provider-answer.ts'

/** Whether a state is that of an administrator who tries a provider. */
export function isTrial(state: string): boolean {
  return state.startsWith('try.')
}

/**
 * Shows what a provider says of the administrator who tried it, in a browser that is signed in as that one: once, and kept nowhere.
 * Nobody is signed in by it.
 */
export async function showTrial(context: Context, request: ReturnFromProviderRequest, call: Call): Promise<PageAnswer> {
  const { idpId, state, posted, cameTo } = request
  const answer = saidIn(request)
  // It comes across sites without the cookie, and comes again with it.
  if (posted) return redirect(`/ui/login/idps/${encodeURIComponent(idpId)}/callback?${answer}`)
  const { browser, now } = await findBrowser(context.sql, request.browser)
  if (!browser?.isPresent) return requestUnknown(context)
  const people = await findPeople(context, { browser, now }, '', call)
  const userIds = people.filter(({ verdict }) => isAllowed(verdict)).map(({ signedInUser }) => signedInUser.userId)
  const tokens = valuesOf(request.headers, headerOf(state))
  const trial = await context.idp.finishProviderTrial({ idpId, state, answer, tokens, userIds, cameTo }, call)
  if (trial.unknown) return requestUnknown(context)
  const { name: provider, problem, issuer, subject, claims, words, secondFactors, roleRows: rows } = trial
  const value = { provider, problem, issuer, subject, claims, words, secondFactors, rows }
  return show({ $case: 'providerTrial', value })
}

// The header of a JWT provider is in its state, since no request of this browser has begun.
function headerOf(state: string): string {
  return Buffer.from(state.split('.')[1] ?? '', 'base64url').toString()
}

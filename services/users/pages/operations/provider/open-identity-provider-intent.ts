import {
  type OpenIdentityProviderIntentRequest,
  type PageAnswer,
  SignInError,
} from '#gen/roster/users/v1/sign_in_service'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../../context.ts'
import { redirect } from '../../../openid/authorization/answer.ts'
import { findBrowser, makeBrowser, seeBrowser } from '../../../sessions/browsers/session-cookie.ts'
import { advanceIntent, type BegunByIntent, findBegunIntent } from '../../../sessions/intents/intent-rows.ts'
import { askedOf, isNotAvailable, isThrottled, newSecrets } from '../../sign-in/provider/begin-at-provider.ts'
import { refuse, stateIdOf } from '../../sign-in/provider/own-pages-intent.ts'
import { requestUnknown } from '../../sign-in/way-back.ts'

export async function openIdentityProviderIntent(
  context: Context,
  { browser: value, idpIntentId }: OpenIdentityProviderIntentRequest,
  call: Call,
): Promise<PageAnswer> {
  const { sql } = context
  const [intent, { browser: known }] = await Promise.all([
    findBegunIntent(context, idpIntentId),
    findBrowser(sql, value),
  ])
  if (!intent || (intent.browserId !== null && intent.browserId !== known?.id)) return requestUnknown(context)
  if (await isThrottled(context, call.clientAddress))
    return refuse(context, intent, SignInError.SIGN_IN_ERROR_PROVIDER_THROTTLED)
  if (known) await seeBrowser(sql, known)
  const { browser, newValue } = known ? { browser: known, newValue: '' } : await makeBrowser(sql, value)
  const { progress } = intent
  const { idpId, organizationId, loginHint, promptsLogin, maxAge } = progress
  const begun: BegunByIntent = { ...newSecrets(), idpId, promptsLogin, maxAge, keep: false, headerName: '' }
  try {
    const asked = askedOf(begun, { requestId: stateIdOf(intent), organizationId, loginHint })
    const { url, headerName } = await context.idp.beginProviderSignIn(asked, call)
    const next = { ...progress, begun: { ...begun, headerName } }
    if (!(await advanceIntent(context, intent.id, browser.id, next))) return requestUnknown(context)
    return { ...redirect(url), newBrowser: newValue }
  } catch (error) {
    if (!isNotAvailable(error)) throw error
    context.log.warn({ idpId, err: error }, 'an identity provider cannot be used')
    return refuse(context, intent, SignInError.SIGN_IN_ERROR_PROVIDER_NOT_AVAILABLE)
  }
}

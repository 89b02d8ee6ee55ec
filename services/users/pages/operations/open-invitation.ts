import type { OpenInvitationRequest, PageAnswer } from '#gen/roster/users/v1/sign_in_service'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { storeRequest } from '../../openid/authorization/begin.ts'
import { redirect } from '../../openid/authorization/answer.ts'
import { ownAccountParameters } from '../../openid/request/parameters.ts'
import { findBrowser } from '../../sessions/browsers/session-cookie.ts'
import { findInvitation } from '../invitation/invitation-rows.ts'
import { openByCode } from '../invitation/open-by-code.ts'
import { countTryFrom } from '../registration/registration-limits.ts'

/** The code stays good: nothing is accepted yet. */
export async function openInvitation(
  context: Context,
  { browser: value, invitationId: id, code }: OpenInvitationRequest,
  call: Call,
): Promise<PageAnswer> {
  const page = `/ui/invitation/${encodeURIComponent(id)}`
  const wait = await countTryFrom(context, call.clientAddress, 'invitations')
  if (wait !== undefined) return redirect(`${page}?problem=throttled`)
  const codeId = await openByCode(context, { id, typed: code }, call)
  if (codeId === undefined) return redirect(`${page}?problem=code`)
  const { email, preferredLanguage, organizationId } = (await findInvitation(context, id))!
  const parameters = {
    ...ownAccountParameters({ prompt: '', uiLocales: preferredLanguage, maxAge: '', state: '' }),
    loginHint: email,
    invitation: { id, organizationId, codeId },
  }
  const visit = { value, ...(await findBrowser(context.sql, value)) }
  return storeRequest(context, parameters, visit, { candidates: [], chosen: undefined }, call)
}

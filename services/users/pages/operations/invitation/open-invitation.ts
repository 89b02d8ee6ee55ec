import type { OpenInvitationRequest, PageAnswer } from '#gen/roster/users/v1/sign_in_service'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../../context.ts'
import { storeRequest } from '../../../openid/authorization/begin.ts'
import { redirect } from '../../../openid/authorization/answer.ts'
import { ownAccountParameters } from '../../../openid/request/parameters.ts'
import { brandedPath } from '../../../directory/email/page-link.ts'
import { findBrowser } from '../../../sessions/browsers/session-cookie.ts'
import { findInvitedUser, openByInviteCode } from '../../invitation/invited-user.ts'
import { findInvitation } from '../../invitation/invitation-rows.ts'
import { openByCode } from '../../invitation/open-by-code.ts'
import { countTryFrom } from '../../registration/registration-limits.ts'

/** The code stays good: nothing is accepted yet. */
export async function openInvitation(
  context: Context,
  { browser: value, invitationId: id, code, organizationId }: OpenInvitationRequest,
  call: Call,
): Promise<PageAnswer> {
  const again = (problem: string) =>
    redirect(brandedPath(`/ui/invitation/${encodeURIComponent(id)}`, organizationId, { problem }))
  const wait = await countTryFrom(context, call.clientAddress, 'invitations')
  if (wait !== undefined) return again('throttled')
  const opened = await open(context, id, code, call)
  if (!opened) return again('code')
  const { email, preferredLanguage, ...invitation } = opened
  const parameters = {
    ...ownAccountParameters({ prompt: '', uiLocales: preferredLanguage, maxAge: '', state: '' }),
    loginHint: email,
    invitation: { id, ...invitation },
  }
  const visit = { value, ...(await findBrowser(context.sql, value)) }
  return storeRequest(context, parameters, visit, { candidates: [], chosen: undefined }, call)
}

// The id is that of an invitation, or of a user who is invited: no user has that of an invitation which is open.
async function open(context: Context, id: string, typed: string, call: Call) {
  const invitation = await findInvitation(context, id)
  if (invitation) {
    const codeId = await openByCode(context, { id, typed }, call)
    const { email, preferredLanguage, organizationId } = invitation
    return codeId === undefined ? undefined : { email, preferredLanguage, organizationId, codeId }
  }
  const codeId = await openByInviteCode(context, { id, typed }, call)
  const invited = codeId === undefined ? undefined : await findInvitedUser(context, { id, codeId }, call)
  if (codeId === undefined || !invited) return undefined
  const { human, user } = invited
  const { preferredLanguage } = human.profile
  const { organizationId } = user
  return { email: human.email, preferredLanguage, organizationId, codeId, ofUser: true as const }
}

import type { Call } from '#lib/rpc/headers'
import type { Config } from '../../config.ts'
import type { Context } from '../../context.ts'
import { onlyOrganization } from '../../openid/request/request-organization.ts'
import type { OpenedRequest } from '../sign-in/opened-request.ts'
import { requestStateOf } from '../sign-in/request-state.ts'

/** The call that looks up the name of who forgot the password: in the organization in which a sign-in of the request does. */
export async function forgetfulCall(context: Context, opened: OpenedRequest, call: Call): Promise<Call> {
  const state = await requestStateOf(context, opened, call)
  const application = 'notice' in state ? {} : state.requested.application
  return { ...call, organizationId: onlyOrganization(opened.row.parameters.scope, application) ?? '' }
}

/** The link of a mail that a request asks for. The values stand behind the #, as in the link without a request. */
export function linkTo({ PUBLIC_URL }: Pick<Config, 'PUBLIC_URL'>, requestId: string): string {
  const page = new URL(`/ui/login/${encodeURIComponent(requestId)}/recovery`, PUBLIC_URL)
  return `${page.href}?organization_id={{.OrgID}}#userId={{.UserID}}&code={{.Code}}`
}

/** The request that such a link leads back to; undefined for any other link. */
export function requestOfLink({ PUBLIC_URL }: Pick<Config, 'PUBLIC_URL'>, link: string): string | undefined {
  const [, id] = /^\/ui\/login\/([\w-]+)\/recovery[?#]/.exec(link.slice(new URL(PUBLIC_URL).origin.length)) ?? []
  return link.startsWith(`${new URL(PUBLIC_URL).origin}/`) ? id : undefined
}

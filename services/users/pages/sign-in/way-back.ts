import { NoticeReason, type PageAnswer } from '#gen/roster/users/v1/sign_in_service'
import { instance } from '#lib/instance'
import type { Context } from '../../context.ts'
import { loadLoginPolicy } from '../../sessions/login-policy/load-login-policy.ts'
import { notice } from '../../openid/authorization/answer.ts'
import { branded } from './branded.ts'
import type { Parameters } from '../../openid/request/parameters.ts'
import { originOf } from '../../openid/request/redirect-uri.ts'
import { organizationOfPages } from '../../openid/request/request-organization.ts'

/** The page of a request that is not this browser's, or no longer. */
export async function requestUnknown(context: Context): Promise<PageAnswer> {
  const { defaultRedirectUri } = await loadLoginPolicy(context, instance.id)
  return branded(context, notice(NoticeReason.NOTICE_REASON_REQUEST_UNKNOWN, { applicationOrigin: defaultRedirectUri }))
}

/** Where a page leads to that has no form: where the application can be begun again, else as the policy says. */
export async function wayBack(context: Context, parameters: Parameters): Promise<string> {
  const origin = originOf(parameters.redirectUri)
  if (origin !== '') return origin
  return (await loadLoginPolicy(context, await organizationOfPages(context, parameters))).defaultRedirectUri
}

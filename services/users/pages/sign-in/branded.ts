import type { PageAnswer } from '#gen/roster/users/v1/sign_in_service'
import { instance } from '#lib/instance'
import type { Context } from '../../context.ts'
import { brandOfPage } from '../../sessions/login-policy/brand.ts'
import { loadLoginPolicy } from '../../sessions/login-policy/load-login-policy.ts'
import { type Naming, organizationOfPages } from '../../openid/request/request-organization.ts'

/** A page as the organization of its request wants it to look; without a request, as the instance does. */
export async function branded(context: Context, page: PageAnswer, request?: Naming): Promise<PageAnswer> {
  if (page.answer?.$case === 'redirect') return page
  const { brand } = await loadLoginPolicy(context, request ? await organizationOfPages(context, request) : instance.id)
  return { ...page, brand: brand && brandOfPage(brand) }
}

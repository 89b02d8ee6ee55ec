import type { PageAnswer, PageBrand } from '#gen/roster/users/v1/sign_in_service'
import { instance } from '#lib/instance'
import type { Context } from '../../context.ts'
import { brandOfPage } from '../../sessions/login-policy/brand.ts'
import { loadLoginPolicy } from '../../sessions/login-policy/load-login-policy.ts'
import { type Naming, organizationOfPages } from '../../openid/request/request-organization.ts'

/** A page as the organization of its request wants it to look; without a request, as the instance does. */
export async function branded(context: Context, page: PageAnswer, request?: Naming): Promise<PageAnswer> {
  if (page.answer?.$case === 'redirect') return page
  return brandedFor(context, page, request ? await organizationOfPages(context, request) : instance.id)
}

/** A page as this organization wants it to look: that of a person who has proved who they are. */
export async function brandedFor(context: Context, page: PageAnswer, organizationId: string): Promise<PageAnswer> {
  return { ...page, brand: await brandOf(context, organizationId) }
}

/** How pages and mails of an organization look; undefined: as Roster. */
export async function brandOf(
  context: Pick<Context, 'config' | 'store' | 'sql'>,
  organizationId: string,
): Promise<PageBrand | undefined> {
  const { brand, tosLink, privacyPolicyLink, helpLink } = await loadLoginPolicy(context, organizationId)
  const hasLinks = [tosLink, privacyPolicyLink, helpLink].some((link) => link !== '')
  return brand || hasLinks ? { ...brandOfPage(brand ?? {}), tosLink, privacyPolicyLink, helpLink } : undefined
}

import { type SignInPage, SignInError } from '#gen/roster/users/v1/sign_in_service'
import type { Context } from '../../../context.ts'
import { domainOfAddress, organizationOfDomain } from '../../../directory/organizations/verified-domains.ts'
import { onlyOrganization } from '../../../openid/request/request-organization.ts'
import type { Progress } from '../../../openid/request/request-row.ts'
import type { KnownProvider } from '../../../sessions/factors/provider/known-providers.ts'
import { loadLoginPolicy } from '../../../sessions/login-policy/load-login-policy.ts'
import { policyOfRequest } from '../asks-for-code.ts'
import type { OpenedRequest } from '../opened-request.ts'
import type { RequestState } from '../request-state.ts'

/** Whether a page asks for the name alone first: not of who was asked already, nor of who signs in to connect an account. */
export function mayAskNameAlone({ named, proved }: Progress, { error }: Pick<SignInPage, 'error'>): boolean {
  return !named && !proved && error === SignInError.SIGN_IN_ERROR_UNSPECIFIED
}

/**
 * The provider of the domain of a name: of the organization that has verified the domain, as its policy names it, if its people may
 * come. Only where the policy of the request wants it.
 */
export async function providerOfName(
  context: Context,
  opened: OpenedRequest,
  state: RequestState,
  loginName: string,
): Promise<KnownProvider | undefined> {
  const { row } = opened
  const { requested } = state
  if (!loginName.includes('@')) return undefined
  if (!(await policyOfRequest(context, opened, state)).allowDomainDiscovery) return undefined
  const domain = domainOfAddress(loginName)
  const organizationId = await organizationOfDomain(context.sql, domain)
  const only = onlyOrganization(row.parameters.scope, requested.application) ?? organizationId
  if (organizationId === undefined || only !== organizationId) return undefined
  const { providers, providerDomains } = await loadLoginPolicy(context, organizationId)
  const named = providerDomains.find((one) => one.domain === domain)
  return providers.find(({ idpId }) => idpId === named?.idpId)
}

import type {
  ListOrganizationDomainsRequest,
  ListOrganizationDomainsResponse,
} from '#gen/roster/grants/v1/organization_domain_service'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { actingOrganization } from '../../organizations/acting-organization.ts'
import { readDomain } from '../../organizations/own-domain.ts'
import { showDomain } from '../../organizations/show-domain.ts'

export async function listOrganizationDomains(
  context: Context,
  request: ListOrganizationDomainsRequest,
  call: Call,
): Promise<ListOrganizationDomainsResponse> {
  const wanted = request.domain && readDomain(request.domain)
  const organization = await actingOrganization(context, call)
  const { domains = [] } = organization.state
  const listed = domains.filter(({ domain }) => wanted === '' || domain === wanted)
  return { domains: listed.map((domain) => showDomain(organization, domain)) }
}

import type {
  GetOrganizationDomainRequest,
  GetOrganizationDomainResponse,
} from '#gen/roster/grants/v1/organization_domain_service'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { actingOrganization } from '../../organizations/acting-organization.ts'
import { ownDomain, readDomain } from '../../organizations/own-domain.ts'
import { showDomain } from '../../organizations/show-domain.ts'

export async function getOrganizationDomain(
  context: Context,
  { domain }: GetOrganizationDomainRequest,
  call: Call,
): Promise<GetOrganizationDomainResponse> {
  const organization = await actingOrganization(context, call)
  return { domain: showDomain(organization, ownDomain(organization.state, readDomain(domain))) }
}

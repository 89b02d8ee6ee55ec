import type {
  RemoveOrganizationDomainRequest,
  RemoveOrganizationDomainResponse,
} from '#gen/roster/grants/v1/organization_domain_service'
import { type Aggregate, details } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { existingOrganization } from '../../organizations/active-organization.ts'
import { ownDomain, readDomain, releaseVerifiedDomain } from '../../organizations/own-domain.ts'
import type { Organization, OrganizationEvent } from '../../vocabulary/organization.ts'

export async function removeOrganizationDomain(
  { store }: Context,
  request: RemoveOrganizationDomainRequest,
  call: Call,
): Promise<RemoveOrganizationDomainResponse> {
  const domain = readDomain(request.domain)
  return store.execute({
    aggregate: { type: 'organization', id: call.organizationId },
    call,
    decide: (organization: Aggregate<Organization>): Decision<OrganizationEvent> => ({
      releases: releaseVerifiedDomain(ownDomain(existingOrganization(organization), domain)),
      events: [{ type: 'domain.removed', payload: { domain } }],
      answer: undefined,
    }),
    respond: ({ after }) => ({ details: details(after) }),
  })
}

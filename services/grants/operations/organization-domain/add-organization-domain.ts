import type {
  AddOrganizationDomainRequest,
  AddOrganizationDomainResponse,
} from '#gen/roster/grants/v1/organization_domain_service'
import { newToken } from '#lib/credentials/token-text'
import { RosterError } from '#lib/errors'
import { type Aggregate, details } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { existingOrganization, refuseInactive } from '../../organizations/active-organization.ts'
import { ownDomain, readDomain, refuseMoreDomains } from '../../organizations/own-domain.ts'
import { showDomain } from '../../organizations/show-domain.ts'
import type { Organization, OrganizationEvent } from '../../vocabulary/organization.ts'

export async function addOrganizationDomain(
  { store }: Context,
  request: AddOrganizationDomainRequest,
  call: Call,
): Promise<AddOrganizationDomainResponse> {
  const domain = readDomain(request.domain)
  const value = newToken()
  return store.execute({
    aggregate: { type: 'organization', id: call.organizationId },
    call,
    decide(organization: Aggregate<Organization>): Decision<OrganizationEvent> {
      refuseInactive(organization)
      const { domains = [] } = existingOrganization(organization)
      if (domains.some((one) => one.domain === domain))
        throw new RosterError('ALREADY_EXISTS', 'ORGANIZATION_DOMAIN_EXISTS', 'The organization has this domain.')
      refuseMoreDomains(domains)
      return { events: [{ type: 'domain.added', payload: { domain, value } }], answer: undefined }
    },
    respond({ after }) {
      const organization = { id: after.id, state: existingOrganization(after) }
      return { details: details(after), domain: showDomain(organization, ownDomain(organization.state, domain)) }
    },
  })
}

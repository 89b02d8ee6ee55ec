import type {
  ConfirmOrganizationDomainRequest,
  ConfirmOrganizationDomainResponse,
} from '#gen/roster/grants/v1/organization_domain_service'
import { newToken } from '#lib/credentials/token-text'
import { type Aggregate, details } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { existingOrganization, refuseInactive } from '../../organizations/active-organization.ts'
import { claimVerifiedDomain, readDomain, refuseMoreDomains } from '../../organizations/own-domain.ts'
import { noForeignPrimary } from '../../organizations/domain-elsewhere.ts'
import type { Organization, OrganizationEvent } from '../../vocabulary/organization.ts'

export async function confirmOrganizationDomain(
  { store }: Context,
  request: ConfirmOrganizationDomainRequest,
  call: Call,
): Promise<ConfirmOrganizationDomainResponse> {
  const domain = readDomain(request.domain)
  const value = newToken()
  return store.execute({
    aggregate: { type: 'organization', id: request.orgId },
    call,
    decide(organization: Aggregate<Organization>): Decision<OrganizationEvent> {
      refuseInactive(organization)
      const { domains = [] } = existingOrganization(organization)
      const present = domains.find((one) => one.domain === domain)
      if (present?.verified === 'instance') return { events: [], answer: undefined }
      if (!present) refuseMoreDomains(domains)
      return {
        ...(!present?.verified && {
          claims: [claimVerifiedDomain(domain)],
          guards: [noForeignPrimary(domain, request.orgId)],
        }),
        events: [
          ...(present ? [] : [{ type: 'domain.added' as const, payload: { domain, value } }]),
          { type: 'domain.verified', payload: { domain, setOn: 'instance' } },
        ],
        answer: undefined,
      }
    },
    respond: ({ after }) => ({ details: details(after) }),
  })
}

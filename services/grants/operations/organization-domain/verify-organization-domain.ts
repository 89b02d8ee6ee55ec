import type {
  VerifyOrganizationDomainRequest,
  VerifyOrganizationDomainResponse,
} from '#gen/roster/grants/v1/organization_domain_service'
import { RosterError } from '#lib/errors'
import { type Aggregate, details } from '#lib/eventstore/aggregate'
import { countUse } from '#lib/eventstore/count-use'
import type { Decision } from '#lib/eventstore/command'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { existingOrganization, refuseInactive } from '../../organizations/active-organization.ts'
import { findRecord } from '../../organizations/domain-record.ts'
import { organizationNotFound } from '../../organizations/organization-not-found.ts'
import { ownDomain, readDomain } from '../../organizations/own-domain.ts'
import { foundRecord } from '../../organizations/verified-domain.ts'
import type { Organization, OrganizationEvent } from '../../vocabulary/organization.ts'

/** Each look asks name servers that the caller may have chosen. */
const limits = [
  { most: 10, seconds: 60 },
  { most: 100, seconds: 3600 },
]

export async function verifyOrganizationDomain(
  context: Context,
  request: VerifyOrganizationDomainRequest,
  call: Call,
): Promise<VerifyOrganizationDomainResponse> {
  const { config, sql, store } = context
  const domain = readDomain(request.domain)
  const known = await store.load<Organization>('organization', call.organizationId)
  if (!known) throw organizationNotFound()
  refuseInactive(known)
  const { value } = ownDomain(existingOrganization(known), domain)
  const retryAfter = await countUse(sql, { key: `domain checks ${call.organizationId}`, limits })
  if (retryAfter) throw throttled(retryAfter)
  const { record, problem } = await findRecord(config, domain, value)
  if (record !== 'present') throw new RosterError('FAILED_PRECONDITION', 'ORGANIZATION_DOMAIN_NOT_PROVED', problem)
  return store.execute({
    aggregate: { type: 'organization', id: call.organizationId },
    call,
    decide(organization: Aggregate<Organization>): Decision<OrganizationEvent> {
      refuseInactive(organization)
      const present = ownDomain(existingOrganization(organization), domain)
      // It was removed and added again meanwhile: that value was not looked for.
      if (present.value !== value) throw new RosterError('ABORTED', 'CONFLICT', 'The domain was added anew meanwhile.')
      return foundRecord(call.organizationId, present)
    },
    respond: ({ after }) => ({ details: details(after) }),
  })
}

function throttled(retryAfter: number): RosterError {
  const message = 'Domains of this organization were looked up too often of late.'
  return new RosterError('RESOURCE_EXHAUSTED', 'DOMAIN_CHECKS_THROTTLED', message, { retryAfter })
}

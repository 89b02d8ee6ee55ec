import {
  type OrganizationDomain as ShownDomain,
  OrganizationDomainState as State,
} from '#gen/roster/grants/v1/organization_domain_service'
import type { Existing } from '#lib/eventstore/aggregate'
import type { Organization } from '../vocabulary/organization.ts'
import type { OrganizationDomain } from '../vocabulary/organization-domain.ts'
import { recordName } from './own-domain.ts'

export function showDomain(
  { id, state: { primaryDomain } }: Pick<Existing<Organization>, 'id' | 'state'>,
  domain: OrganizationDomain,
): ShownDomain {
  const { value, verified, verifiedAt, lostAt } = domain
  return {
    domain: domain.domain,
    state: stateOf(domain),
    recordName: recordName(domain.domain),
    recordValue: value,
    verificationDate: verifiedAt === undefined ? undefined : new Date(verifiedAt),
    lostDate: lostAt === undefined ? undefined : new Date(lostAt),
    organizationId: id,
    isVerified: verified !== undefined,
    isPrimary: domain.domain === primaryDomain,
  }
}

function stateOf({ verified, lostAt }: OrganizationDomain): State {
  if (verified === undefined) return State.ORGANIZATION_DOMAIN_STATE_UNVERIFIED
  if (verified === 'instance') return State.ORGANIZATION_DOMAIN_STATE_CONFIRMED
  return lostAt === undefined ? State.ORGANIZATION_DOMAIN_STATE_VERIFIED : State.ORGANIZATION_DOMAIN_STATE_LOST
}

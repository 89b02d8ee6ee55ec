import type { Decision } from '#lib/eventstore/command'
import type { OrganizationEvent } from '../vocabulary/organization.ts'
import type { OrganizationDomain } from '../vocabulary/organization-domain.ts'
import { noForeignPrimary } from './domain-elsewhere.ts'
import { claimVerifiedDomain, releaseVerifiedDomain } from './own-domain.ts'

const nothing: Decision<OrganizationEvent> = { events: [], answer: undefined }

/** The record of a domain is there. */
export function foundRecord(
  organizationId: string,
  { domain, verified, lostAt }: OrganizationDomain,
): Decision<OrganizationEvent> {
  const payload = { domain }
  if (verified === 'dns')
    return lostAt === undefined ? nothing : { ...nothing, events: [{ type: 'domain.found', payload }] }
  return {
    ...nothing,
    ...(!verified && { claims: [claimVerifiedDomain(domain)], guards: [noForeignPrimary(domain, organizationId)] }),
    events: [{ type: 'domain.verified', payload }],
  }
}

/** The record of a domain is missing. Its trust ends where it has been so for some time. In milliseconds. */
export function missedRecord(known: OrganizationDomain, now: Date, lostAfter: number): Decision<OrganizationEvent> {
  const { domain, verified, lostAt } = known
  const payload = { domain }
  if (verified !== 'dns') return nothing
  if (lostAt === undefined) return { ...nothing, events: [{ type: 'domain.lost', payload }] }
  if (now.getTime() < Date.parse(lostAt) + lostAfter) return nothing
  return { ...nothing, releases: releaseVerifiedDomain(known), events: [{ type: 'domain.unverified', payload }] }
}

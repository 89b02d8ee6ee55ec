import { invalid, limitReached, RosterError } from '#lib/errors'
import type { UniqueKey } from '#lib/eventstore/command'
import { domainName } from '#lib/names/domain-name'
import { keyKinds } from '../vocabulary/key-kinds.ts'
import type { Organization } from '../vocabulary/organization.ts'
import { type OrganizationDomain, verifiedDomains } from '../vocabulary/organization-domain.ts'
import { domainKey } from './new-organization.ts'

/**
 * The one spelling of a domain: in lower case, in Punycode, without a dot at its end. INVALID_ARGUMENT VALIDATION_FAILED
 * where it is none, or has one label. Which suffixes registries sell names below, such as `co.uk`, is not known here: who
 * can publish a record there may have such a domain.
 */
export function readDomain(text: string): string {
  const domain = domainName(text)
  if (domain === undefined || recordName(domain).length > 253)
    throw invalid([{ field: 'domain', description: 'must be a domain with at least one dot, such as example.com' }])
  return domain
}

/** The name of the TXT record that proves a domain. */
export function recordName(domain: string): string {
  return `_roster-challenge.${domain}`
}

/** The domain as the organization has it. NOT_FOUND ORGANIZATION_DOMAIN_NOT_FOUND. */
export function ownDomain({ domains = [] }: Organization, domain: string): OrganizationDomain {
  const found = domains.find((one) => one.domain === domain)
  if (!found)
    throw new RosterError('NOT_FOUND', 'ORGANIZATION_DOMAIN_NOT_FOUND', 'The organization has no such domain.')
  return found
}

function verifiedDomainKey(domain: string): UniqueKey {
  return { kind: keyKinds.verifiedDomain, scope: '', key: domain }
}

/** Claims a verified domain, which one organization of the instance may have. The error does not say which one has it. */
export function claimVerifiedDomain(domain: string): UniqueKey & { taken: RosterError } {
  return { ...verifiedDomainKey(domain), taken: domainTaken() }
}

export function domainTaken(): RosterError {
  return new RosterError('ALREADY_EXISTS', 'ORGANIZATION_DOMAIN_TAKEN', 'Another organization has this domain.')
}

/** The key that a domain leaves, if it is verified. */
export function releaseVerifiedDomain({ domain, verified }: OrganizationDomain): UniqueKey[] {
  return verified ? [verifiedDomainKey(domain)] : []
}

/** All keys of an organization. */
export function keysOfOrganization({ primaryDomain, domains }: Organization): UniqueKey[] {
  return [domainKey(primaryDomain), ...verifiedDomains(domains).map(verifiedDomainKey)]
}

const most = 50

/** RESOURCE_EXHAUSTED LIMIT_REACHED where the organization has all the domains that it may have. */
export function refuseMoreDomains(domains: OrganizationDomain[]): void {
  if (domains.length >= most)
    throw limitReached('organization.domains', most, `An organization has at most ${most} domains.`)
}

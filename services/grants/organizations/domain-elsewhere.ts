import type { Guard } from '#lib/eventstore/command'
import { keyKinds } from '../vocabulary/key-kinds.ts'
import { domainTaken } from './own-domain.ts'

/** ALREADY_EXISTS ORGANIZATION_DOMAIN_TAKEN where another organization has the domain as its primary one. */
export function noForeignPrimary(domain: string, organizationId: string): Guard {
  return noForeign(keyKinds.primaryDomain, domain, organizationId)
}

/** The same where another organization has verified the domain. */
export function noForeignVerified(domain: string, organizationId: string): Guard {
  return noForeign(keyKinds.verifiedDomain, domain, organizationId)
}

// The keys are of two kinds, since one organization may have a domain as both. So changes of a domain wait for each other.
function noForeign(kind: string, domain: string, organizationId: string): Guard {
  return {
    key: JSON.stringify(['domain', domain]),
    counted: { by: 'count_foreign_domains', of: { kind, domain, organizationId } },
    most: 1,
    full: domainTaken(),
  }
}

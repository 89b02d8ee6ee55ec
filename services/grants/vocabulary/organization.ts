import type { AggregateKey } from '#lib/eventstore/aggregate'
import type { Effects } from './effects.ts'
import { type DomainEvent, evolveDomains, isDomainEvent, type OrganizationDomain } from './organization-domain.ts'

export type OrganizationEvent =
  | { type: 'added'; payload: { name: string; primaryDomain: string } }
  | { type: 'changed'; payload: { name: string } }
  /** `setOn`: who chose it has the permission on the instance. Missing: in the organization alone. */
  | { type: 'domain.changed'; payload: { primaryDomain: string; setOn?: 'instance' } }
  | DomainEvent
  | { type: 'deactivated'; payload: {} }
  | { type: 'reactivated'; payload: {} }
  | { type: 'removed'; payload: {} }

export const organizationEffects: Effects<OrganizationEvent> = {
  added: 'alone',
  changed: 'none',
  'domain.changed': 'none',
  'domain.added': 'none',
  'domain.verified': 'none',
  'domain.lost': 'none',
  'domain.found': 'none',
  'domain.unverified': 'none',
  'domain.removed': 'none',
  deactivated: 'alone',
  reactivated: 'alone',
  removed: 'alone',
}

export interface Organization {
  name: string
  primaryDomain: string
  /** The last primary domain that somebody with the permission on the instance chose. The present one may be another. */
  ownedDomain?: string
  /** The domains that it proved, or began to prove. */
  domains?: OrganizationDomain[]
  inactive?: true | undefined
  /** Nothing else is kept, and the id stays taken for good. */
  removed?: true
}

/** Names an organization. */
export function keyOfOrganization(id: string): AggregateKey<Organization> {
  return { type: 'organization', id }
}

/** Whether the organization is deactivated or removed. Its users may do nothing, and roles there count for nothing. */
export function isClosed({ inactive, removed }: Organization): boolean {
  return inactive === true || removed === true
}

/** The organization after an event. */
export function evolveOrganization(
  organization: Organization | undefined,
  event: OrganizationEvent,
  at: Date,
): Organization {
  if (event.type === 'added') return event.payload
  if (organization === undefined) throw new Error(`an organization begins with ${event.type}`)
  if (isDomainEvent(event)) return { ...organization, domains: evolveDomains(organization.domains ?? [], event, at) }
  switch (event.type) {
    case 'changed':
      return { ...organization, ...event.payload }
    case 'domain.changed': {
      const { primaryDomain, setOn } = event.payload
      return { ...organization, primaryDomain, ...(setOn && { ownedDomain: primaryDomain }) }
    }
    case 'deactivated':
      return { ...organization, inactive: true }
    case 'reactivated':
      return { ...organization, inactive: undefined }
    case 'removed':
      return { name: '', primaryDomain: '', removed: true }
  }
}

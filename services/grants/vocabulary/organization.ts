import type { AggregateKey } from '#lib/eventstore/aggregate'
import type { Effects } from './effects.ts'

export type OrganizationEvent =
  | { type: 'added'; payload: { name: string; primaryDomain: string } }
  | { type: 'changed'; payload: { name: string } }
  /** `setOn`: who chose it has the permission on the instance. Missing: in the organization alone. */
  | { type: 'domain.changed'; payload: { primaryDomain: string; setOn?: 'instance' } }
  | { type: 'deactivated'; payload: {} }
  | { type: 'reactivated'; payload: {} }
  | { type: 'removed'; payload: {} }

export const organizationEffects: Effects<OrganizationEvent> = {
  added: 'alone',
  changed: 'none',
  'domain.changed': 'none',
  deactivated: 'alone',
  reactivated: 'alone',
  removed: 'alone',
}

export interface Organization {
  name: string
  primaryDomain: string
  /** The last primary domain that somebody with the permission on the instance chose. The present one may be another. */
  ownedDomain?: string
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
  { type, payload }: OrganizationEvent,
): Organization {
  if (type === 'added') return payload
  if (organization === undefined) throw new Error(`an organization begins with ${type}`)
  switch (type) {
    case 'changed':
      return { ...organization, ...payload }
    case 'domain.changed': {
      const { primaryDomain, setOn } = payload
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

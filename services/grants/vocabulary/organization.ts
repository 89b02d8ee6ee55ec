export type OrganizationEvent =
  | { type: 'added'; payload: { name: string; primaryDomain: string } }
  | { type: 'changed'; payload: { name: string } }
  | { type: 'domain.changed'; payload: { primaryDomain: string } }
  | { type: 'deactivated'; payload: {} }
  | { type: 'reactivated'; payload: {} }
  | { type: 'removed'; payload: {} }

export interface Organization {
  name: string
  primaryDomain: string
  inactive?: true | undefined
  /** Nothing else is kept, and the id stays taken for good. */
  removed?: true
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
    case 'domain.changed':
      return { ...organization, ...payload }
    case 'deactivated':
      return { ...organization, inactive: true }
    case 'reactivated':
      return { ...organization, inactive: undefined }
    case 'removed':
      return { name: '', primaryDomain: '', removed: true }
  }
}

/** The type of the aggregates with what users knows of an organization. */
export const organizationType = 'user_organization'

/** The events of such a status. It has the organization's id. */
export type OrganizationEvent = { type: 'noted'; payload: OrganizationStatus }

export interface OrganizationStatus {
  state: 'active' | 'inactive' | 'removed'
  sequence: number
}

export function evolveOrganization(_: unknown, { payload }: OrganizationEvent): OrganizationStatus {
  return payload
}

/** The type of the aggregates that note what users knows of an organization. */
export const organizationType = 'user_organization'

/** The events of such a note. It has the organization's id. */
export type OrganizationEvent = { type: 'noted'; payload: OrganizationNote }

export interface OrganizationNote {
  state: 'active' | 'inactive' | 'removed'
  sequence: number
}

/** The note after an event. */
export function evolveOrganization(_: unknown, { payload }: OrganizationEvent): OrganizationNote {
  return payload
}

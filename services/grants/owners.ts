import type { FindOwner } from '#lib/rpc/authorize'
import type { Context } from './context.ts'
import type { Organization } from './vocabulary/organization.ts'
import type { UserGrant } from './vocabulary/user-grant.ts'

/** A user grant belongs to the organization that gave it, and to its project. */
export const ownerOfUserGrant: FindOwner<Context> = async ({ store }, id) => {
  const grant = await store.load<UserGrant>('user_grant', id)
  return grant && { organizationId: grant.organizationId, projectId: grant.state.projectId }
}

/** An organization belongs to itself, until it is removed. */
export const ownerOfOrganization: FindOwner<Context> = async ({ store }, id) => {
  const organization = await store.load<Organization>('organization', id)
  return organization && !organization.state.removed ? { organizationId: id } : undefined
}

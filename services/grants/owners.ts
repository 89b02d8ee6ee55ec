import { codes, RosterError } from '#lib/errors'
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

/** A user belongs to itself and to its organization, even after its removal. */
export const ownerOfUser: FindOwner<Context> = async ({ users }, userId) => {
  try {
    const { organizationId } = await users.traceUserState({ userId }, { requestId: '', deadline: Date.now() + timeout })
    return { userId, organizationId }
  } catch (error) {
    if (error instanceof RosterError && error.code === codes.NOT_FOUND) return undefined
    throw error
  }
}

const timeout = 5_000

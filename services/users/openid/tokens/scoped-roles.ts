import type { OrganizationRoles } from '#gen/roster/users/v1/oauth_service'
import { RosterError } from '#lib/errors'
import { instance } from '#lib/instance'
import type { ServiceCall } from '#lib/rpc/call'
import { membershipsIn } from '../../../roles-there.ts'
import type { Context } from '../../context.ts'
import type { Scope } from '../scope.ts'

/** The roles of a user that a scope asks for. */
export interface Roles {
  /** The organization that owns the project; empty without a project. */
  projectOrganizationId: string
  /**
   * Roles in the project that count in the user's own organization: given by that organization, or by the project's
   * owner.
   */
  roles: string[]
  /** All roles in the project, by the organization that gave them. */
  projectRoles: OrganizationRoles[]
  /** Roles in Roster itself, in a hundred organizations at most. */
  organizationRoles: OrganizationRoles[]
  /** There are more organizations. */
  organizationRolesIncomplete: true | undefined
}

const mostOrganizations = 100

/** The roles that the scope names, as they are now. */
export async function findRoles(
  { grants }: Context,
  user: { id: string; organizationId: string },
  { names, projectId }: Pick<Scope, 'names' | 'projectId'>,
  call: ServiceCall,
): Promise<Roles> {
  const [project, memberships] = await Promise.all([
    projectId === undefined ? undefined : findProject(grants, user.id, projectId, call),
    names.has('roles')
      ? grants.listMemberships({ ...membershipsIn(user.id, user.organizationId), mostOthers: mostOrganizations }, call)
      : undefined,
  ])
  const listed = memberships?.memberships ?? []
  const counting = [user.organizationId, project?.organizationId]
  const own = project?.grants.filter(({ organizationId }) => counting.includes(organizationId)) ?? []
  return {
    projectOrganizationId: project?.organizationId ?? '',
    roles: [...new Set(own.flatMap(({ roleKeys }) => roleKeys))],
    projectRoles: (project?.grants ?? []).map(({ organizationId, roleKeys }) =>
      inOrganization(organizationId, roleKeys),
    ),
    organizationRoles: [
      ...(memberships?.instanceRoles.length ? [inOrganization(instance.id, memberships.instanceRoles)] : []),
      ...listed.slice(0, mostOrganizations).map(({ organizationId, roles }) => inOrganization(organizationId, roles)),
    ],
    organizationRolesIncomplete: memberships?.moreOthers || listed.length > mostOrganizations || undefined,
  }
}

function inOrganization(organization: string, roles: string[]): OrganizationRoles {
  return { organization, roles }
}

async function findProject(grants: Context['grants'], userId: string, projectId: string, call: ServiceCall) {
  try {
    return await grants.listProjectRoles({ userId, projectId, userOrganizationId: '' }, call)
  } catch (error) {
    if (error instanceof RosterError && error.reason === 'PROJECT_NOT_FOUND') return undefined
    throw error
  }
}

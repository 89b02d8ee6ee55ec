import type { ListMembershipsRequest, ListMembershipsResponse } from '#gen/roster/grants/v1/internal_service'
import type { RolesThere } from '#lib/rpc/caller'

/** Asks grants for what a user holds on the instance and in one organization. */
export function membershipsIn(userId: string, organizationId: string): ListMembershipsRequest {
  return { userId, organizationId: '', withInactive: false, onlyIn: [organizationId], mostOthers: 0 }
}

/** Whether a user holds a role on the instance, or in the organization that `membershipsIn` asked for or a project of it. */
export function isAdministrator({
  instanceRoles,
  memberships,
  projectMemberships,
}: Pick<ListMembershipsResponse, 'instanceRoles' | 'memberships' | 'projectMemberships'>): boolean {
  return instanceRoles.length + memberships.length + projectMemberships.length > 0
}

/** What a user holds in one organization, of what grants lists. */
export function rolesThere(
  { memberships, projectMemberships }: Pick<ListMembershipsResponse, 'memberships' | 'projectMemberships'>,
  organizationId: string,
): RolesThere {
  const projects = projectMemberships.filter((membership) => membership.organizationId === organizationId)
  return {
    roles: memberships.find((membership) => membership.organizationId === organizationId)?.roles,
    // An id may be any text: from entries it becomes a property of its own, even "__proto__".
    projects:
      projects.length > 0 ? Object.fromEntries(projects.map(({ projectId, roles }) => [projectId, roles])) : undefined,
  }
}

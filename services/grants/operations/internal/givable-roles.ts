import type { GrantedRoles } from '#gen/roster/grants/v1/internal_service'
import { RosterError } from '#lib/errors'
import type { Aggregate } from '#lib/eventstore/aggregate'
import { permissionDenied } from '#lib/rpc/authorize'
import { anonymous, type Caller, holds, withRoles } from '#lib/rpc/caller'
import { membershipsIn, rolesThere } from '../../../roles-there.ts'
import type { Context } from '../../context.ts'
import { listMemberships } from './list-memberships.ts'
import { decideUserGrant } from '../user-grant/add-user-grant.ts'
import { refuseInactive } from '../../organizations/active-organization.ts'
import { findProjectGrant } from '../../projects/find-project-grant.ts'
import { keyOfOrganization, type Organization } from '../../vocabulary/organization.ts'
import { keyOfProject, type Project } from '../../vocabulary/project.ts'
import type { ProjectGrant } from '../../vocabulary/project-grant.ts'

// Whether somebody could give roles that are given later: by an invitation, or by the table of an identity provider.

/** A user as a caller with the roles of now. */
export async function callOf(context: Context, userId: string, organizationId: string) {
  const held = await listMemberships(context, membershipsIn(userId, organizationId))
  const caller = { ...anonymous, userId, instanceRoles: held.instanceRoles }
  return { organizationId, caller: withRoles(caller, organizationId, rolesThere(held, organizationId)) }
}

/** PERMISSION_DENIED. */
export function permitGrants(caller: Caller, organizationId: string, grants: readonly GrantedRoles[]): void {
  for (const { projectId } of grants)
    if (!holds(caller, 'user.grant.write', organizationId, projectId)) throw permissionDenied()
}

/** The errors of AddUserGrant that do not concern a user. */
export async function checkGrants(
  context: Context,
  organizationId: string,
  grants: readonly GrantedRoles[],
): Promise<void> {
  const { store, config } = context
  const organization = await store.load<Organization>(keyOfOrganization(organizationId).type, organizationId)
  if (!organization) throw new RosterError('NOT_FOUND', 'ORGANIZATION_NOT_FOUND', 'There is no such organization.')
  refuseInactive(organization)
  for (const { projectId, roleKeys } of grants) {
    const grantId = await findProjectGrant(context, projectId, organizationId)
    const [project, grant] = await Promise.all([
      store.load<Project>(keyOfProject(projectId).type, projectId),
      grantId === undefined ? undefined : store.load<ProjectGrant>('project_grant', grantId),
    ])
    const unknown = { organizationId: '', state: undefined } as unknown as Aggregate<Project>
    const asked = { userId: '', projectId, projectGrantId: '', roleKeys, userGrantId: undefined }
    decideUserGrant(project ?? unknown, grant, asked, organizationId, config.GRANT_MAX_ROLE_KEYS)
  }
}

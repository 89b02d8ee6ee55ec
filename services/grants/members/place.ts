import { RosterError } from '#lib/errors'
import type { Aggregate, AggregateKey } from '#lib/eventstore/aggregate'
import { instance } from '#lib/instance'
import { refuseInactive } from '../organizations/active-organization.ts'
import type { Context } from '../context.ts'
import { findProjectGrant } from '../projects/find-project-grant.ts'
import type { Organization } from '../vocabulary/organization.ts'
import type { Project } from '../vocabulary/project.ts'
import type { ProjectGrant } from '../vocabulary/project-grant.ts'

/** Where members have roles: on the instance by its id, in an organization, or in a project there. */
export interface Place {
  organizationId: string
  projectId?: string
}

/** The place of roles that count in every organization. */
export const onInstance: Place = { organizationId: instance.id }

/** The objects that decide whether roles may be given there. */
export async function objectsOf(context: Context, { organizationId, projectId }: Place): Promise<AggregateKey[]> {
  if (organizationId === instance.id) return []
  const organization = { type: 'organization', id: organizationId }
  if (projectId === undefined) return [organization]
  const grantId = await findProjectGrant(context, projectId, organizationId)
  const grant = grantId === undefined ? [] : [{ type: 'project_grant', id: grantId }]
  return [organization, { type: 'project', id: projectId }, ...grant]
}

/**
 * Throws where the roles may not be given there: NOT_FOUND PROJECT_NOT_FOUND for a project that the organization
 * neither owns nor was granted, and for roles that only its owner gives; else as `refuseInactive`.
 */
export function refuseForeign({ organizationId, projectId }: Place, roles: string[], objects: Aggregate[]): void {
  if (organizationId === instance.id) return
  refuseInactive(find<Organization>('organization', objects)!)
  if (projectId === undefined) return
  const project = find<Project>('project', objects)!
  const grant = find<ProjectGrant>('project_grant', objects)
  const owned = project.organizationId === organizationId
  const granted = grant?.state !== undefined && !grant.state.removed && roles.every((role) => role === ofGrant)
  if (!project.state || project.state.removed || !(owned || granted)) throw projectNotFound()
}

/** The one role that an organization may give in the project of another, where it has a grant of it. */
const ofGrant = 'PROJECT_GRANT_OWNER'

function find<State>(type: string, objects: Aggregate[]): Aggregate<State> | undefined {
  return objects.find((object) => object.type === type) as Aggregate<State> | undefined
}

function projectNotFound() {
  return new RosterError(
    'NOT_FOUND',
    'PROJECT_NOT_FOUND',
    'There is no such project, or its owner alone gives the role.',
  )
}

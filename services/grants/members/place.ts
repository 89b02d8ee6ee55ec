import { RosterError } from '#lib/errors'
import type { AggregateKey } from '#lib/eventstore/aggregate'
import type { ReadBy } from '#lib/eventstore/reads'
import { instance } from '#lib/instance'
import { refuseInactive } from '../organizations/active-organization.ts'
import type { Context } from '../context.ts'
import { findProjectGrant } from '../projects/find-project-grant.ts'
import { keyOfOrganization, type Organization } from '../vocabulary/organization.ts'
import { keyOfProject, type Project } from '../vocabulary/project.ts'
import { keyOfProjectGrant, type ProjectGrant } from '../vocabulary/project-grant.ts'

/** Where members have roles: on the instance by its id, in an organization, or in a project there. */
export interface Place {
  organizationId: string
  projectId?: string
}

/** The place of roles that count in every organization. */
export const onInstance: Place = { organizationId: instance.id }

/** The objects that decide whether roles may be given there. */
export async function objectsOf(context: Context, { organizationId, projectId }: Place): Promise<ObjectKeys> {
  if (organizationId === instance.id) return {}
  const organization = keyOfOrganization(organizationId)
  if (projectId === undefined) return { organization }
  const grantId = await findProjectGrant(context, projectId, organizationId)
  const grant = grantId === undefined ? undefined : keyOfProjectGrant(grantId)
  return { organization, project: keyOfProject(projectId), ...(grant && { grant }) }
}

/** Roles on the instance depend on none, and those in an organization on no project. */
export type ObjectKeys = {
  organization?: AggregateKey<Organization>
  project?: AggregateKey<Project>
  grant?: AggregateKey<ProjectGrant>
}

/**
 * Throws where the roles may not be given there: NOT_FOUND PROJECT_NOT_FOUND for a project that the organization
 * neither owns nor was granted, and for roles that only its owner gives; else as `refuseInactive`.
 */
export function refuseForeign(roles: string[], { organization, project, grant }: ReadBy<ObjectKeys>): void {
  if (!organization) return
  refuseInactive(organization)
  if (!project) return
  const owned = project.organizationId === organization.id
  const granted = grant?.state !== undefined && !grant.state.removed && roles.every((role) => role === ofGrant)
  if (!project.state || project.state.removed || !(owned || granted)) throw projectNotFound()
}

/** The one role that an organization may give in the project of another, where it has a grant of it. */
const ofGrant = 'PROJECT_GRANT_OWNER'

function projectNotFound() {
  return new RosterError(
    'NOT_FOUND',
    'PROJECT_NOT_FOUND',
    'There is no such project, or its owner alone gives the role.',
  )
}

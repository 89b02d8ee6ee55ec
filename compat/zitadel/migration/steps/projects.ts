import { type GrantedProject, type Project, ProjectGrantState, ProjectState } from '@zitadel/proto/zitadel/project_pb'
import { each } from '../each.ts'
import { faultsOf } from '../roster/faults-of.ts'
import type { Migration, OurOrganization, OurProject } from '../ours.ts'
import { moveRoles } from './roles.ts'
import { Refusal, refusalOf } from '../roster/target.ts'

/** Adds the projects of an organization with their roles, active for now. */
export async function moveProjects(migration: Migration, organization: OurOrganization): Promise<void> {
  let count = 0
  for await (const page of migration.source.projects(organization.id)) {
    await each(page, (project) => moveProject(migration, organization, project))
    migration.report.progress(`${(count += page.length)} projects of organization ${organization.id}`)
  }
}

async function moveProject(migration: Migration, organization: OurOrganization, project: Project): Promise<void> {
  const { target, report, dry, projects } = migration
  const { id, name, state, details, projectRoleAssertion, projectRoleCheck, hasProjectCheck } = project
  const request = { name, projectId: id, projectRoleAssertion, projectRoleCheck, hasProjectCheck }
  const isForeign = details?.resourceOwner !== organization.id
  const fault = isForeign ? 'ZITADEL says that it belongs to another organization' : undefined
  const why = fault ?? faultsOf('roster.grants.v1.AddProjectRequest', request)
  if (why !== undefined) return report.refused('project', id, why)
  if (projects.has(id)) return report.refused('project', id, 'ZITADEL has this id twice')
  const ours: OurProject = {
    id,
    organizationId: organization.id,
    exists: true,
    inactive: state === ProjectState.INACTIVE,
    inactiveGrants: [],
  }
  projects.set(id, ours)

  const exists = organization.exists && (await isThere(migration, `/management/v1/projects/${id}`, organization.id))
  if (exists) report.there('project')
  else {
    const refusal = dry
      ? undefined
      : await refusalOf(target.ask('POST', '/management/v1/projects', request, organization.id))
    if (refusal !== undefined) {
      projects.delete(id)
      return report.refused('project', id, refusal)
    }
    report.moved('project')
  }
  ours.exists = exists || !dry
  await moveRoles(migration, ours)
}

/** Adds the grants of a project to other organizations, which have to be there. */
export async function moveProjectGrants(migration: Migration, project: OurProject): Promise<void> {
  for await (const page of migration.source.projectGrants(project.organizationId, project.id))
    await each(page, (grant) => moveProjectGrant(migration, project, grant))
}

async function moveProjectGrant(migration: Migration, project: OurProject, grant: GrantedProject): Promise<void> {
  const { target, report, dry, organizations } = migration
  const { grantId, grantedOrgId, grantedRoleKeys: roleKeys, state, projectId } = grant
  const request = { projectId, grantedOrgId, roleKeys, grantId }
  const isForeign = projectId !== project.id || !organizations.has(grantedOrgId)
  const fault = isForeign ? 'the organization that it is for is not moved' : undefined
  const why = fault ?? faultsOf('roster.grants.v1.AddProjectGrantRequest', request)
  if (why !== undefined) return report.refused('project grant', grantId, why)

  const path = `/management/v1/projects/${projectId}/grants`
  if (project.exists && (await isThere(migration, `${path}/${grantId}`, project.organizationId)))
    report.there('project grant')
  else {
    const refusal = dry ? undefined : await refusalOf(target.ask('POST', path, request, project.organizationId))
    if (refusal !== undefined) return report.refused('project grant', grantId, refusal)
    report.moved('project grant')
  }
  if (state === ProjectGrantState.INACTIVE) project.inactiveGrants.push(grantId)
}

async function isThere({ target }: Migration, path: string, organization: string): Promise<boolean> {
  try {
    await target.ask('GET', path, undefined, organization)
    return true
  } catch (error) {
    if (error instanceof Refusal && /^PROJECT(_GRANT)?_NOT_FOUND$/.test(error.reason)) return false
    throw error
  }
}

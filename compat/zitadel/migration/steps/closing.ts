import type { Migration, OurOrganization, OurProject } from '../ours.ts'
import { Refusal, whyOf } from '../roster/target.ts'

/** Deactivates those grants of a project that are inactive, and then the project. */
export async function closeProject(migration: Migration, project: OurProject): Promise<void> {
  const path = `/management/v1/projects/${project.id}`
  for (const grantId of project.inactiveGrants)
    await close(migration, grantId, `${path}/grants/${grantId}/_deactivate`, project.organizationId)
  if (project.inactive) await close(migration, project.id, `${path}/_deactivate`, project.organizationId)
}

export async function closeOrganization(migration: Migration, { id, inactive }: OurOrganization): Promise<void> {
  if (inactive) await close(migration, id, '/management/v1/orgs/me/_deactivate', id)
}

async function close(
  { target, report, dry }: Migration,
  id: string,
  path: string,
  organization: string,
): Promise<void> {
  try {
    if (!dry) await target.ask('POST', path, {}, organization)
    report.moved('state')
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    if (error.reason.endsWith('_ALREADY_INACTIVE')) report.there('state')
    else report.refused('state', id, whyOf(error))
  }
}

import { faultsOf } from '../roster/faults-of.ts'
import type { Migration, OurProject } from '../ours.ts'
import { refusalOf } from '../roster/target.ts'

/** Adds those roles of a project that it does not have. */
export async function moveRoles(migration: Migration, project: OurProject): Promise<void> {
  const { source, target, report, dry } = migration
  const keys = project.exists ? await keysOf(migration, project) : new Set<string>()
  for await (const page of source.roles(project.organizationId, project.id)) {
    const roles = page.flatMap(({ key, displayName, group }) => {
      if (keys.has(key)) {
        report.there('role')
        return []
      }
      keys.add(key)
      const role = { key, displayName: displayName || key, group }
      const why = faultsOf('roster.grants.v1.NewProjectRole', role)
      if (why === undefined) return [role]
      report.refused('role', `${project.id} ${key}`, why)
      return []
    })
    if (roles.length === 0) continue
    const path = `/management/v1/projects/${project.id}/roles/_bulk`
    const why = dry ? undefined : await refusalOf(target.ask('POST', path, { roles }, project.organizationId))
    if (why === undefined) report.moved('role', roles.length)
    else for (const { key } of roles) report.refused('role', `${project.id} ${key}`, why)
  }
}

async function keysOf({ target }: Migration, { id, organizationId }: OurProject): Promise<Set<string>> {
  const keys = new Set<string>()
  for (let cursor = ''; ;) {
    const path = `/management/v1/projects/${id}/roles/_search`
    const { roles = [], nextCursor = '' } = await target.ask('POST', path, { limit: 1000, cursor }, organizationId)
    for (const { key } of roles) keys.add(key)
    if (nextCursor === '') return keys
    cursor = nextCursor
  }
}

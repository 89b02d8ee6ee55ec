import type { Context } from '../context.ts'
import type { ProjectGrant } from '../vocabulary/project-grant.ts'
import type { Cause } from './cause.ts'
import { takeRoles } from './take-roles.ts'

/** A project grant lost roles: so do the user grants under it. */
export async function takeRolesOfGrant(context: Context, cause: Cause): Promise<void> {
  const { sql, store } = context
  const { aggregateId: grantId, sequence, payload } = cause
  const grant = await store.load<ProjectGrant>('project_grant', grantId)
  const [former] = await sql<{ roleKeys: string[] }[]>`
    select payload -> 'roleKeys' as "roleKeys" from events
    where aggregate_type = 'project_grant' and aggregate_id = ${grantId} and sequence < ${sequence}
      and type in ('added', 'changed')
    order by sequence desc
    limit 1
  `
  const roleKeys = former!.roleKeys.filter((key) => !payload.roleKeys!.includes(key))
  if (roleKeys.length === 0) return
  const { projectId, grantedOrganizationId } = grant!.state
  // The organization comes first: the index of roles has it.
  const under = sql`r.organization_id = ${grantedOrganizationId} and u.project_grant_id = ${grantId}`
  await takeRoles(context, cause, { projectId, roleKeys, under })
}

import type { Aggregate } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import type { Context } from '../context.ts'
import type { ProjectGrant } from '../vocabulary/project-grant.ts'
import type { Cause } from './cause.ts'
import { type Found, inPortions, portion } from './in-portions.ts'
import { givenBefore, takeRoles } from './take-roles.ts'

/** A project lost a role: so do its user grants and its project grants. */
export async function takeRoleOfProject(context: Context, cause: Cause): Promise<void> {
  const { sql } = context
  const { aggregateId: projectId, payload } = cause
  const roleKey = payload.roleKey!
  await takeRoles(context, cause, { projectId, roleKeys: [roleKey] })
  await inPortions<ProjectGrant>(
    context,
    cause,
    ([, after]) => sql<Found[]>`
      select a.type, a.id, a.sequence::int as sequence, array['', a.id] as place
      from project_grants g
      join aggregates a on a.type = 'project_grant' and a.id = g.grant_id
      where g.project_id = ${projectId} and ${roleKey} = any(g.role_keys) and g.grant_id > ${after}
        and ${givenBefore(sql, cause)}
      order by g.grant_id
      limit ${portion}
    `,
    (grant) => without(grant, roleKey),
  )
}

// A project grant stays, even without roles.
function without({ state }: Aggregate<ProjectGrant>, roleKey: string): Decision {
  if (!state || state.removed) return { events: [], answer: undefined }
  const roleKeys = state.roleKeys.filter((key) => key !== roleKey)
  return { events: [{ type: 'changed', payload: { roleKeys } }], answer: undefined }
}

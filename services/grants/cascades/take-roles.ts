import type { Aggregate } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import type { Fragment, Sql } from '#lib/database/database'
import type { Context } from '../context.ts'
import type { UserGrant } from '../vocabulary/user-grant.ts'
import type { Cause } from './cause.ts'
import { type Found, inPortions, portion } from './in-portions.ts'
import { removedHolding } from './removed-holding.ts'

/**
 * Takes roles of a project from the user grants that had them before the cause. A user grant that is left without roles
 * is removed. `under` restricts the user grants `u`.
 */
export async function takeRoles(
  context: Context,
  cause: Cause,
  { projectId, roleKeys, under }: { projectId: string; roleKeys: string[]; under?: Fragment },
): Promise<void> {
  const { sql } = context
  const lost = new Set(roleKeys)
  const having = (roleKey: string) => (after: Found['place']) =>
    sql<Found[]>`
      select a.type, a.id, a.sequence::int as sequence, array[r.organization_id, r.grant_id] as place
      from user_grant_roles r
      join user_grants u on u.grant_id = r.grant_id
      join aggregates a on a.type = 'user_grant' and a.id = r.grant_id
      where r.project_id = ${projectId} and r.role_key = ${roleKey} ${under ? sql`and ${under}` : sql``}
        and (r.organization_id, r.grant_id) > (${after[0]}, ${after[1]}) and ${givenBefore(sql, cause)}
      order by r.organization_id, r.grant_id
      limit ${portion}
    `
  // A user grant that has many of the roles loses all of them at once.
  for (const roleKey of roleKeys)
    await inPortions<UserGrant>(context, cause, having(roleKey), (grant) => without(grant, lost))
}

/**
 * The condition that an aggregate `a` was given no roles after the cause. A role that was added once more may be
 * given again before the cascade is through. The place of an event decides, because every gift locks the project.
 */
export function givenBefore(sql: Sql, { position }: Cause): Fragment {
  return sql`
    not exists (
      select from events e
      where e.aggregate_type = a.type and e.aggregate_id = a.id collate "default" and e.position > ${position}::bigint
        and e.type in ('added', 'changed') and e.cause is null
    )
  `
}

function without(grant: Aggregate<UserGrant>, lost: ReadonlySet<string>): Decision {
  const { state } = grant
  if (!state || state.removed) return { events: [], answer: undefined }
  const roleKeys = state.roleKeys.filter((key) => !lost.has(key))
  if (roleKeys.length === 0) return removedHolding(grant)
  return { events: [{ type: 'changed', payload: { roleKeys } }], answer: undefined }
}

import type { Context } from '../context.ts'
import type { ProjectGrant } from '../vocabulary/project-grant.ts'
import type { Cause } from './cause.ts'
import { type Found, inPortions, portion } from './in-portions.ts'
import { removedHolding } from './removed-holding.ts'
import { removeMembers } from './remove-members.ts'

/** A project grant is gone: so are the user grants under it, and the members of the project in that organization. */
export async function clearProjectGrant(context: Context, cause: Cause): Promise<void> {
  const { sql, store } = context
  const { aggregateId: grantId } = cause
  const userGrants = ([, after]: Found['place']) => sql<Found[]>`
    select a.type, a.id, a.sequence::int as sequence, array['', a.id] as place
    from user_grants u join aggregates a on a.type = 'user_grant' and a.id = u.grant_id
    where u.project_grant_id = ${grantId} and u.project_grant_id <> '' and u.grant_id > ${after}
    order by u.grant_id
    limit ${portion}
  `
  await inPortions(context, cause, userGrants, removedHolding)
  const grant = await store.load<ProjectGrant>('project_grant', grantId)
  await removeMembers(context, cause, grant!.state.projectId, grant!.state.grantedOrganizationId)
}

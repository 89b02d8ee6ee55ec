import { removedApplication } from '../applications/removed-application.ts'
import type { Context } from '../context.ts'
import { removedProjectGrant } from '../projects/removed-project-grant.ts'
import type { Cause } from './cause.ts'
import { type Found, inPortions, portion } from './in-portions.ts'
import { removedHolding } from './removed-holding.ts'
import { removeMembers } from './remove-members.ts'

/** A project is gone: so are its user grants, members, project grants and applications. */
export async function clearProject(context: Context, cause: Cause): Promise<void> {
  const { sql } = context
  const { aggregateId: projectId } = cause
  const userGrants = ([user, organization]: Found['place']) => sql<Found[]>`
    select a.type, a.id, a.sequence::int as sequence, array[u.user_id, u.organization_id] as place
    from user_grants u join aggregates a on a.type = 'user_grant' and a.id = u.grant_id
    where u.project_id = ${projectId} and (u.user_id, u.organization_id) > (${user}, ${organization})
    order by u.user_id, u.organization_id
    limit ${portion}
  `
  const projectGrants = ([, after]: Found['place']) => sql<Found[]>`
    select a.type, a.id, a.sequence::int as sequence, array['', a.id] as place
    from project_grants g join aggregates a on a.type = 'project_grant' and a.id = g.grant_id
    where g.project_id = ${projectId} and g.grant_id > ${after}
    order by g.grant_id
    limit ${portion}
  `
  const applications = ([, after]: Found['place']) => sql<Found[]>`
    select a.type, a.id, a.sequence::int as sequence, array['', a.id] as place
    from applications p join aggregates a on a.type = 'application' and a.id = p.application_id
    where p.project_id = ${projectId} and p.application_id > ${after}
    order by p.application_id
    limit ${portion}
  `
  // Applications come first: people sign in by them.
  await inPortions(context, cause, applications, removedApplication)
  await inPortions(context, cause, userGrants, removedHolding)
  await removeMembers(context, cause, projectId)
  await inPortions(context, cause, projectGrants, removedProjectGrant)
}

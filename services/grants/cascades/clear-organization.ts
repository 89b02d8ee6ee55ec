import { removedProjectGrant } from '../projects/removed-project-grant.ts'
import { removedProject } from '../projects/removed-project.ts'
import type { Context } from '../context.ts'
import { keyKinds } from '../vocabulary/key-kinds.ts'
import type { Cause } from './cause.ts'
import { type Found, inPortions, portion } from './in-portions.ts'
import { removedHolding } from './removed-holding.ts'

/**
 * An organization is gone: so are the user grants that it gave, its members, the grants of projects to it, and its
 * projects. What was built on the last two goes after them.
 */
export async function clearOrganization(context: Context, cause: Cause): Promise<void> {
  const { sql } = context
  const { aggregateId: organizationId } = cause
  const userGrants = ([, after]: Found['place']) => sql<Found[]>`
    select a.type, a.id, a.sequence::int as sequence, array['', u.grant_id] as place
    from user_grants u join aggregates a on a.type = 'user_grant' and a.id = u.grant_id
    where u.organization_id = ${organizationId} and u.grant_id > ${after}
    order by u.grant_id
    limit ${portion}
  `
  const members = ([, after]: Found['place']) => sql<Found[]>`
    select a.type, a.id, a.sequence::int as sequence, array['', k.key] as place
    from unique_keys k join aggregates a on a.type = 'member' and a.id = k.aggregate_id
    where k.kind = ${keyKinds.member} and k.scope = ${organizationId} and k.key > ${after}
    order by k.key
    limit ${portion}
  `
  const projectGrants = ([, after]: Found['place']) => sql<Found[]>`
    select a.type, a.id, a.sequence::int as sequence, array['', g.grant_id] as place
    from project_grants g join aggregates a on a.type = 'project_grant' and a.id = g.grant_id
    where g.granted_organization_id = ${organizationId} and g.grant_id > ${after}
    order by g.grant_id
    limit ${portion}
  `
  const projects = ([, after]: Found['place']) => sql<Found[]>`
    select a.type, a.id, a.sequence::int as sequence, array['', p.project_id] as place
    from projects p join aggregates a on a.type = 'project' and a.id = p.project_id
    where p.organization_id = ${organizationId} and p.project_id > ${after}
    order by p.project_id
    limit ${portion}
  `
  await inPortions(context, cause, userGrants, removedHolding)
  await inPortions(context, cause, members, removedHolding)
  await inPortions(context, cause, projectGrants, removedProjectGrant)
  await inPortions(context, cause, projects, removedProject)
}

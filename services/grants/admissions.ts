import type { Admission } from '#gen/roster/grants/v1/internal_service'
import { orUnavailable } from '#lib/database/database'
import type { Existing } from '#lib/eventstore/aggregate'
import type { Context } from './context.ts'
import { counting, countingRoles } from './effective-roles.ts'
import type { OrganizationEvent } from './vocabulary/organization.ts'
import type { ProjectGrantEvent } from './vocabulary/project-grant.ts'
import type { Project } from './vocabulary/project.ts'
import type { UserGrantEvent } from './vocabulary/user-grant.ts'

/** The most that are listed: those of the organization, then the oldest. */
const most = 20

/**
 * What lets a user of an organization into a project now: that the organization owns it, or has a grant of it that
 * counts, and each user grant that counts. One that was interrupted has another event from then on.
 */
export async function listAdmissions(
  context: Context,
  project: Existing<Project>,
  user: { userId: string; organizationId: string },
): Promise<Admission[]> {
  if (!(await countingRoles(context, project))) return []
  const { sql } = context
  const { userId, organizationId } = user
  return orUnavailable(sql<Admission[]>`
    with admitting (by_user_grant, user_grant_id, project_grant_id, organization_id) as (
      select true, u.grant_id, u.project_grant_id, u.organization_id from user_grants u
      where u.project_id = ${project.id} and u.user_id = ${userId} and ${counting(sql)}
      union all
      select false, '', grant_id, organization_id from project_grants
      where project_id = ${project.id} and granted_organization_id = ${organizationId} and not inactive
      union all
      select false, '', '', ${organizationId} where ${organizationId === project.organizationId}
    )
    select by_user_grant as "byUserGrant", 'grants-' || opened.position as "eventId", opened.at as since
    from admitting a, lateral (
      select max(e.position) as position, max(e.created_at) as at
      from unnest(
        array['user_grant', 'project_grant', 'organization'],
        array[a.user_grant_id, a.project_grant_id, a.organization_id]
      ) part (type, id)
      join events e on e.aggregate_type = part.type and e.aggregate_id = part.id and e.type = any(${opening})
    ) opened
    where opened.position is not null
    order by by_user_grant, position
    limit ${most}
  `)
}

const opening = ['added', 'reactivated'] satisfies (OrganizationEvent & ProjectGrantEvent & UserGrantEvent)['type'][]

import type { Sql } from '#lib/database/database'
import { type Asker, runQueued } from '#lib/search/search-queue'

/** Grants that an explanation looks at, at most. */
const most = 100

/** A role that a user may hold, as an organization asks for it. */
export interface RoleQuestion {
  userId: string
  organizationId: string
  projectId: string
  roleKey: string
}

/**
 * The ids of a user's grants of the project, and of the project's grants to the organization: also of those that were
 * removed. First come those of the organization, then those that are still there, then the newest. Besides, the
 * organization that owns the project. Its state is not read: the time that it takes would reveal that the project
 * exists.
 */
export async function findGrants(
  sql: Sql,
  asker: Asker,
  { userId, projectId, organizationId }: RoleQuestion,
): Promise<{ owner: string | undefined; userGrants: string[]; projectGrants: string[]; incomplete: boolean }> {
  const newest = sql`g.state ? 'removed', g.created_at desc`
  const rows = await runQueued(
    sql,
    asker,
    sql<{ id: string; type: string }[]>`
      (
        select id, type from aggregates g
        where g.type = 'user_grant' and g.state ->> 'userId' = ${userId} and g.state ->> 'projectId' = ${projectId}
        order by g.organization_id = ${organizationId} desc, ${newest} limit ${most + 1}
      )
      union all
      (
        select id, type from aggregates g
        where g.type = 'project_grant' and g.state ->> 'projectId' = ${projectId}
          and g.state ->> 'grantedOrganizationId' = ${organizationId}
        order by ${newest} limit ${most + 1}
      )
      union all
      select organization_id, type from aggregates where type = 'project' and id = ${projectId}
    `,
  )
  const ids = (type: string) => rows.filter((row) => row.type === type).map(({ id }) => id)
  const [userGrants, projectGrants] = [ids('user_grant'), ids('project_grant')]
  return {
    owner: ids('project')[0],
    userGrants: userGrants.slice(0, most),
    projectGrants: projectGrants.slice(0, most),
    incomplete: userGrants.length > most || projectGrants.length > most,
  }
}

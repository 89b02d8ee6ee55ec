import type {
  RoleHolder,
  SearchRoleHoldersRequest,
  SearchRoleHoldersResponse,
} from '#gen/roster/grants/v1/project_service'
import type { Call } from '#lib/rpc/headers'
import { search } from '#lib/search/search'
import type { Context } from '../../context.ts'
import { counting, countingRoles } from '../../effective-roles.ts'
import { visibleProject } from '../../projects/visible-project.ts'

export async function searchRoleHolders(
  context: Context,
  request: SearchRoleHoldersRequest,
  call: Call,
): Promise<SearchRoleHoldersResponse> {
  const { sql, config } = context
  const { projectId, roleKey } = request
  const project = await visibleProject(context, projectId, call.organizationId)
  const roleCounts = (await countingRoles(context, project))?.has(roleKey) ?? false
  const isOwner = project.organizationId === call.organizationId
  const page = await search<RoleHolder>(
    { sql, keys: config.ROSTER_ENCRYPTION_KEY },
    {
      method: 'SearchRoleHolders',
      request,
      call,
      columns: sql`u.user_id as "userId", u.grant_id as "grantId", u.organization_id as "organizationId"`,
      from: sql`
        user_grant_roles r
        cross join lateral (select * from user_grants g where g.grant_id = r.grant_id offset 0) u
      `,
      where: sql`
        ${roleCounts} and r.project_id = ${projectId} and r.role_key = ${roleKey}
        ${isOwner ? sql`` : sql`and r.organization_id = ${call.organizationId}`}
        and ${counting(sql, sql`r.role_key`)}
      `,
      order: {
        by: [
          { column: sql`r.organization_id`, type: 'text' },
          { column: sql`r.grant_id`, type: 'text' },
        ],
      },
    },
  )
  const holders = page.rows.map(({ userId, grantId, organizationId }) => ({
    userId,
    grantId,
    organizationId,
    userGrantId: grantId,
  }))
  return { holders, nextCursor: page.nextCursor, total: page.total }
}

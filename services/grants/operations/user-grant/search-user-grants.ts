import {
  type SearchUserGrantsRequest,
  type SearchUserGrantsResponse,
  UserGrantState,
} from '#gen/roster/grants/v1/user_grant_service'
import type { Fragment } from '#lib/database/database'
import { permissionDenied } from '#lib/rpc/authorize'
import { holds } from '#lib/rpc/caller'
import type { Call } from '#lib/rpc/headers'
import { textCondition } from '#lib/search/text-condition'
import type { Context } from '../../context.ts'
import { projectName } from '../../search/project-name.ts'
import { searchByUsers } from '../../search/search-by-users.ts'
import { searchGrantsOfUsers } from '../../search/search-grants-of-users.ts'
import { userQueries } from '../../search/user-queries.ts'

export const searchUserGrants = {
  // A search by a name or an address reveals it, letter by letter.
  permit(request: SearchUserGrantsRequest, { caller, organizationId }: Call): void {
    if (userQueries(request).length > 0 && !holds(caller, 'user.read', organizationId)) throw permissionDenied()
  },

  handle,
}

async function handle(
  context: Context,
  request: SearchUserGrantsRequest,
  call: Call,
): Promise<SearchUserGrantsResponse> {
  const asked = { method: 'SearchUserGrants', request, call }
  const filter = filterOf(context, request, call.organizationId)
  const queries = userQueries(request)
  if (queries.length > 0) {
    const { rows, nextCursor } = await searchByUsers(context, asked, queries, filter)
    return { userGrants: rows, nextCursor }
  }
  const { rows, ...page } = await searchGrantsOfUsers(context, asked, filter)
  return { ...page, userGrants: rows }
}

function filterOf({ sql }: Context, request: SearchUserGrantsRequest, organizationId: string) {
  const { projectId, userId, roleKey, projectGrantId, state, projectName: name } = request
  const from = sql`
    user_grants u
    ${roleKey ? sql`join user_grant_roles r on r.grant_id = u.grant_id` : sql``}
    ${name ? sql`join projects p on p.project_id = u.project_id` : sql``}
  `
  // The index of roles has the order of a page only if the conditions are on its own columns.
  const filtered = roleKey ? sql`r` : sql`u`
  const conditions: Fragment[] = [
    ...(projectId ? [sql`${filtered}.project_id = ${projectId}`] : []),
    ...(roleKey ? [sql`r.role_key = ${roleKey}`] : []),
    ...(userId ? [sql`u.user_id = ${userId}`] : []),
    ...(projectGrantId ? [sql`u.project_grant_id = ${projectGrantId}`] : []),
    ...(state ? [sql`u.inactive = ${state === UserGrantState.USER_GRANT_STATE_INACTIVE}`] : []),
    ...(name ? [textCondition(sql, projectName(sql), name.text, name.method)] : []),
  ]
  return {
    from,
    id: sql`${filtered}.grant_id`,
    where: conditions.reduce(
      (all, next) => sql`${all} and ${next}`,
      sql`${filtered}.organization_id = ${organizationId}`,
    ),
  }
}

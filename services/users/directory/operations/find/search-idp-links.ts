import type { SearchIDPLinksRequest, SearchIDPLinksResponse } from '#gen/roster/users/v1/user_service'
import type { Call } from '#lib/rpc/headers'
import { search } from '#lib/search/search'
import type { Context } from '../../../context.ts'
import { linkKind } from '../../events/links.ts'
import { showLink } from '../../links/show-link.ts'
import { showUser } from '../../search/show-user.ts'
import { readStored, selectStored, type StoredUser } from '../../search/stored-user.ts'

/** The people whom a provider signs in: the unique keys say who, in an order of their own. */
export async function searchIdpLinks(
  context: Context,
  request: SearchIDPLinksRequest,
  call: Call,
): Promise<SearchIDPLinksResponse> {
  const { sql } = context
  const { rows, nextCursor, total } = await search<{ stored: StoredUser }>(context, {
    method: 'SearchIDPLinks',
    request,
    call,
    columns: sql`(${selectStored(context)}) as stored`,
    from: sql`unique_keys k join found_users u on u.user_id = k.aggregate_id`,
    where: sql`k.kind = ${linkKind} and k.scope = ${request.idpId} and u.organization_id = ${call.organizationId}`,
    order: { by: [{ column: sql`k.key`, type: 'text' }] },
  })
  const linkedUsers = rows.flatMap(({ stored }) =>
    readStored(context, stored).flatMap((user) => {
      const link = user.state.human?.links?.find(({ idpId }) => idpId === request.idpId)
      return link ? [{ user: showUser(user), link: showLink(link) }] : []
    }),
  )
  return { linkedUsers, nextCursor, total }
}

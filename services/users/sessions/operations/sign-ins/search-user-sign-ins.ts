import type { SearchUserSignInsRequest, SearchUserSignInsResponse } from '#gen/roster/users/v1/session_service'
import type { Call } from '#lib/rpc/headers'
import { search } from '#lib/search/search'
import type { Context } from '../../../context.ts'
import { shownColumns, shownJoins, type ShownRow, showSignIns } from '../../records/show-sign-ins.ts'

export async function searchUserSignIns(
  context: Context,
  request: SearchUserSignInsRequest,
  call: Call,
): Promise<SearchUserSignInsResponse> {
  const { sql } = context
  const { userId } = request
  const { rows, nextCursor, total } = await search<ShownRow>(context, {
    method: 'SearchUserSignIns',
    request,
    call,
    columns: shownColumns(sql),
    from: sql`sign_in_records r`,
    shown: shownJoins(sql),
    where: sql`r.user_id = ${userId}`,
    // The ids are UUIDs of version 7, which hold the time.
    order: { by: [{ column: sql`r.id`, type: 'uuid' }], descending: true },
  })
  const shown = rows.map((row) => ({ ...row, userId }))
  return { signIns: await showSignIns(context, shown), nextCursor, total }
}

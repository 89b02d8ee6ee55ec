import type { SearchSignInsRequest, SearchSignInsResponse } from '#gen/roster/users/v1/session_service'
import { instance } from '#lib/instance'
import type { Call } from '#lib/rpc/headers'
import { search } from '#lib/search/search'
import type { Context } from '../../../context.ts'
import { shownColumns, shownJoins, type ShownRow, showSignIns } from '../../records/show-sign-ins.ts'

const { console } = instance

export async function searchSignIns(
  context: Context,
  request: SearchSignInsRequest,
  call: Call,
): Promise<SearchSignInsResponse> {
  const { sql } = context
  const { userId, applicationId } = request
  const client =
    applicationId === console.id
      ? sql`${console.clientId}`
      : sql`(select c.client_id from copies c where c.type = 'application' and c.id = ${applicationId})`
  const { rows, nextCursor, total } = await search<ShownRow & { userId: string }>(context, {
    method: 'SearchSignIns',
    request,
    call,
    columns: sql`r.user_id as "userId", ${shownColumns(sql)}`,
    from: sql`sign_in_records r`,
    shown: shownJoins(sql),
    where: sql`
      r.organization_id = ${call.organizationId}
      ${userId === '' ? sql`` : sql`and r.user_id = ${userId}`}
      ${applicationId === '' ? sql`` : sql`and r.client_id = ${client}`}
    `,
    order: {
      by: [
        { column: sql`r.at`, type: 'timestamptz' },
        { column: sql`r.id`, type: 'uuid' },
      ],
      descending: true,
    },
  })
  const records = await showSignIns(context, rows)
  const signIns = rows.map(({ userId }, index) => ({ userId, signIn: records[index] }))
  return { signIns, nextCursor, total }
}

import type { SearchUserConsentsRequest, SearchUserConsentsResponse } from '#gen/roster/users/v1/session_service'
import type { Call } from '#lib/rpc/headers'
import { search } from '#lib/search/search'
import type { Context } from '../../context.ts'

export async function searchUserConsents(
  context: Context,
  request: SearchUserConsentsRequest,
  call: Call,
): Promise<SearchUserConsentsResponse> {
  const { sql } = context
  const { rows, nextCursor, total } = await search<ConsentRow>(context, {
    method: 'SearchUserConsents',
    request,
    call,
    columns: sql`
      c.application_id as "applicationId", coalesce(a.state ->> 'name', '') as "applicationName", c.scopes,
      c.given_at as "givenDate"
    `,
    from: sql`consents c`,
    // A removed one has no name.
    shown: sql`left join copies a on a.type = 'application' and a.id = c.application_id`,
    where: sql`c.user_id = ${request.userId}`,
    order: { by: [{ column: sql`c.application_id`, type: 'text' }] },
  })
  const consents = rows.map((row) => ({ ...row, appId: row.applicationId }))
  return { consents, nextCursor, total }
}

interface ConsentRow {
  applicationId: string
  applicationName: string
  scopes: string[]
  givenDate: Date
}

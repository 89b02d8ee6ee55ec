import type { SearchSignInFailuresRequest, SearchSignInFailuresResponse } from '#gen/roster/users/v1/session_service'
import type { Call } from '#lib/rpc/headers'
import { search } from '#lib/search/search'
import type { Context } from '../../../context.ts'
import { failureCauses, type FailureRow } from './search-user-sign-in-failures.ts'

export async function searchSignInFailures(
  context: Context,
  request: SearchSignInFailuresRequest,
  call: Call,
): Promise<SearchSignInFailuresResponse> {
  const { sql } = context
  const { userId } = request
  const { rows, nextCursor, total } = await search<FailureRow & { userId: string }>(context, {
    method: 'SearchSignInFailures',
    request,
    call,
    columns: sql`f.user_id as "userId", f.hour, f.cause, f.count`,
    from: sql`sign_in_failures f`,
    where: sql`
      f.organization_id = ${call.organizationId} ${userId === '' ? sql`` : sql`and f.user_id = ${userId}`}
    `,
    order: {
      by: [
        { column: sql`f.hour`, type: 'timestamptz' },
        { column: sql`f.user_id`, type: 'text' },
        { column: sql`f.cause`, type: 'text' },
      ],
      descending: true,
    },
  })
  const failures = rows.map(({ userId, hour, cause, count }) => ({
    userId,
    failures: { hour, cause: failureCauses[cause], count },
  }))
  return { failures, nextCursor, total }
}

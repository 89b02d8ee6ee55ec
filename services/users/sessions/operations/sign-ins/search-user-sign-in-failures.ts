import {
  SignInFailureCause,
  type SearchUserSignInFailuresRequest,
  type SearchUserSignInFailuresResponse,
} from '#gen/roster/users/v1/session_service'
import type { Call } from '#lib/rpc/headers'
import { search } from '#lib/search/search'
import type { Context, FailureCause } from '../../../context.ts'

export async function searchUserSignInFailures(
  context: Context,
  request: SearchUserSignInFailuresRequest,
  call: Call,
): Promise<SearchUserSignInFailuresResponse> {
  const { sql } = context
  const { rows, nextCursor, total } = await search<FailureRow>(context, {
    method: 'SearchUserSignInFailures',
    request,
    call,
    columns: sql`f.hour, f.cause, f.count`,
    from: sql`sign_in_failures f`,
    where: sql`f.user_id = ${request.userId}`,
    order: {
      by: [
        { column: sql`f.hour`, type: 'timestamptz' },
        { column: sql`f.cause`, type: 'text' },
      ],
      descending: true,
    },
  })
  const failures = rows.map(({ cause, ...row }) => ({ ...row, cause: failureCauses[cause] }))
  return { failures, nextCursor, total }
}

export interface FailureRow {
  hour: Date
  cause: FailureCause
  count: number
}

export const failureCauses: Record<FailureCause, SignInFailureCause> = {
  'password-wrong': SignInFailureCause.SIGN_IN_FAILURE_CAUSE_PASSWORD_WRONG,
  'code-wrong': SignInFailureCause.SIGN_IN_FAILURE_CAUSE_CODE_WRONG,
  'passkey-refused': SignInFailureCause.SIGN_IN_FAILURE_CAUSE_PASSKEY_REFUSED,
  'user-not-active': SignInFailureCause.SIGN_IN_FAILURE_CAUSE_USER_NOT_ACTIVE,
  throttled: SignInFailureCause.SIGN_IN_FAILURE_CAUSE_THROTTLED,
}

import type { GetMyUserRequest, GetMyUserResponse } from '#gen/roster/users/v1/user_service'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../../context.ts'
import { getUser } from '../user/get-user.ts'

export async function getMyUser(context: Context, _request: GetMyUserRequest, call: Call): Promise<GetMyUserResponse> {
  return getUser(context, { userId: call.caller.userId })
}

import type { DeleteUserRequest, DeleteUserResponse } from '#gen/roster/users/v1/user_service'
import type { Call } from '#lib/rpc/headers'
import { changeState } from '../../states/change-state.ts'
import { removedUntil, removedUser } from '../../states/removed-user.ts'
import { holdingsOf, receiptOf } from '../../forgetting/receipt.ts'
import type { Context } from '../../context.ts'

const day = 86_400_000

export async function deleteUser(
  context: Context,
  { userId }: DeleteUserRequest,
  call: Call,
): Promise<DeleteUserResponse> {
  const days = context.config.FORGET_AFTER_DAYS
  const holdings = await holdingsOf(context.sql, userId)
  return changeState(
    context,
    userId,
    call,
    (user, organizationId, now) =>
      days > 0 ? removedUntil(new Date(now.getTime() + days * day)) : removedUser(user, organizationId),
    (after) => ({
      receipt: receiptOf(context, after, call.caller.userId, holdings),
      forgetAt: after.state.forgetAt === undefined ? undefined : new Date(after.state.forgetAt),
    }),
  )
}

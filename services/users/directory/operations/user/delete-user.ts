import type { DeleteUserRequest, DeleteUserResponse } from '#gen/roster/users/v1/user_service'
import type { Call } from '#lib/rpc/headers'
import { changeState } from '../../states/change-state.ts'
import { erasedUser, removedUnreadable, removedUntil, removedUser } from '../../states/removed-user.ts'
import { existing, existingOrFormer } from '../../states/user-state.ts'
import { receiptOf } from '../../erasure/receipt.ts'
import type { Decision } from '#lib/eventstore/command'
import type { User, UserEvent } from '../../events/user.ts'
import type { Context } from '../../../context.ts'

const day = 86_400_000

export async function deleteUser(
  context: Context,
  { userId, forgetNow }: DeleteUserRequest,
  call: Call,
): Promise<DeleteUserResponse> {
  const days = forgetNow ? 0 : context.config.FORGET_AFTER_DAYS
  return changeState(
    context,
    userId,
    call,
    (user, organizationId, now) => ended(user, organizationId, days, now),
    (after) => ({
      receipt: receiptOf(context, after, call.caller.userId),
      forgetAt: after.state.forgetAt === undefined ? undefined : new Date(after.state.forgetAt),
    }),
    forgetNow ? existingOrFormer : existing,
    () => removedUnreadable(userId),
  )
}

function ended(user: User, organizationId: string, days: number, now: Date): Decision<UserEvent> {
  if (user.former) return erasedUser(user.former, organizationId)
  return days > 0 ? removedUntil(new Date(now.getTime() + days * day)) : removedUser(user, organizationId)
}

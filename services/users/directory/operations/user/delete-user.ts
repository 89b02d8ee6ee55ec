import type { DeleteUserRequest, DeleteUserResponse } from '#gen/roster/users/v1/user_service'
import type { MailWithoutEvent } from '#lib/events/hints'
import { RosterError } from '#lib/errors'
import type { Call } from '#lib/rpc/headers'
import { changeState } from '../../states/change-state.ts'
import { keepRemovalMail } from './removal-mail.ts'
import { erasedUser, removedUnreadable, removedUntil, removedUser } from '../../states/removed-user.ts'
import { existing, existingOrFormer } from '../../states/user-state.ts'
import { receiptOf } from '../../erasure/receipt.ts'
import type { Decision } from '#lib/eventstore/command'
import { livingTakeBacks } from '../../events/human.ts'
import type { User, UserEvent } from '../../events/user.ts'
import type { Context } from '../../../context.ts'

const day = 86_400_000

export async function deleteUser(
  context: Context,
  { userId, forgetNow }: DeleteUserRequest,
  call: Call,
): Promise<DeleteUserResponse> {
  const days = forgetNow ? 0 : context.config.FORGET_AFTER_DAYS
  let told: MailWithoutEvent | undefined
  const answer = await changeState(
    context,
    userId,
    call,
    (user, organizationId, now) => {
      const isOwn = call.caller.userId === userId
      // A stolen session may do it in the person's name: it must not end the way back to the address.
      if (isOwn && livingTakeBacks(user.human, now).length > 0) throw addressTooNew()
      const decision = ended(user, organizationId, days, now)
      const kept = isOwn ? keepRemovalMail(context, user.human, organizationId, now) : undefined
      told = kept?.mail
      return kept ? { ...decision, writes: [...(decision.writes ?? []), ...kept.writes] } : decision
    },
    (after) => ({
      receipt: receiptOf(context, after, call.caller.userId),
      forgetAt: after.state.forgetAt === undefined ? undefined : new Date(after.state.forgetAt),
    }),
    forgetNow ? existingOrFormer : existing,
    () => removedUnreadable(userId),
  )
  if (told) context.announceMail(told)
  return answer
}

function addressTooNew(): RosterError {
  return new RosterError(
    'FAILED_PRECONDITION',
    'EMAIL_CHANGE_REVOCABLE',
    'The own address was changed, and the change can still be taken back from the former one. Only others may remove the user until then.',
  )
}

function ended(user: User, organizationId: string, days: number, now: Date): Decision<UserEvent> {
  if (user.former) return erasedUser(user.former, organizationId)
  return days > 0 ? removedUntil(new Date(now.getTime() + days * day)) : removedUser(user, organizationId)
}

import type { ResendInviteCodeRequest, ResendInviteCodeResponse } from '#gen/roster/users/v1/user_service'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../../context.ts'
import type { NewMail } from '../../email/new-mail.ts'
import { invite, permitInvite } from './create-invite-code.ts'

export const resendInviteCode = {
  permit: ({ userId }: ResendInviteCodeRequest, call: Call, _holdsPermission: boolean, context: Context) =>
    permitInvite(userId, call, context),

  async handle(
    context: Context,
    { userId }: ResendInviteCodeRequest,
    call: Call,
  ): Promise<ResendInviteCodeResponse & NewMail> {
    const { details, mailId } = await invite(context, { userId, verification: undefined, isAgain: true }, call)
    return { details, mailId }
  },
}

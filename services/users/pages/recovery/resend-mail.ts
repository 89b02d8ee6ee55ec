import type { ResendMailRequest, ResendMailResponse } from '#gen/roster/users/v1/user_service'
import { RosterError } from '#lib/errors'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import type { Code } from '../../directory/events/code.ts'
import { type PasswordCode, passwordCodeType, revisionOf } from '../../directory/events/password-code.ts'
import type { User } from '../../directory/events/user.ts'
import { userNotFound } from '../../directory/events/user-not-found.ts'
import { resendEmailCode } from '../../directory/operations/user/resend-email-code.ts'
import { resendInviteCode } from '../../directory/operations/user/resend-invite-code.ts'
import { findInvitation } from '../invitation/invitation-rows.ts'
import { resendInvitation } from '../invitation/resend-invitation.ts'
import { passwordReset } from './password-reset.ts'

/**
 * The mail's code is stored nowhere, so it goes out with a new one: by the operation that makes such codes, with its checks
 * and its limits.
 */
export async function resendMail(
  context: Context,
  { userId, mailId }: ResendMailRequest,
  call: Call,
): Promise<ResendMailResponse> {
  const user = await context.store.load<User>('user', userId)
  const human = user?.organizationId === call.organizationId ? user.state.human : undefined
  if (!human) return resendAsInvitation(context, userId, mailId, call)
  if (isMailed(human.invite, mailId)) return resendAsInviteCode(context, userId, call)
  if (isMailed(human.code, mailId)) return resendAsEmailCode(context, userId, human.code, call)
  const reset = await context.store.load<PasswordCode>(passwordCodeType, userId)
  // A new password or address has made it useless.
  if (isMailed(reset?.state, mailId) && reset.state.round === revisionOf(human))
    return resendAsPasswordReset(context, userId, reset.state, call)
  throw notResendable()
}

async function resendAsEmailCode(context: Context, userId: string, code: Code, call: Call) {
  const asked = (value: Link) => ({ userId, verification: { $case: 'sendCode' as const, value } })
  // The person's own link leads to a host that the settings name.
  const request = asked(code.askedBy === undefined ? { urlTemplate: code.urlTemplate } : linkOf(code, call))
  // The settings may allow the host of that time no more.
  const sound = resendEmailCode.check(context, request, call, true).length === 0 ? request : asked({})
  await resendEmailCode.permit(sound, call, true, context)
  return answerOf(await resendEmailCode.handle(context, sound, call))
}

async function resendAsInviteCode(context: Context, userId: string, call: Call) {
  await resendInviteCode.permit({ userId }, call, true, context)
  return answerOf(await resendInviteCode.handle(context, { userId }, call))
}

async function resendAsPasswordReset(context: Context, userId: string, code: Code, call: Call) {
  const asked = (value: Link) => ({ userId, medium: { $case: 'sendLink' as const, value } })
  // Where no caller chose the link, it leads to a sign-in that knows the former code alone.
  const request = asked(linkOf(code, call))
  const sound = passwordReset.check(context, request).length === 0 ? request : asked({})
  await passwordReset.permit(sound, call, true, context)
  return answerOf(await passwordReset.handle(context, sound, call))
}

async function resendAsInvitation(context: Context, invitationId: string, mailId: string, call: Call) {
  const invitation = await findInvitation(context, invitationId)
  if (invitation?.organizationId !== call.organizationId) throw userNotFound()
  const { state, link } = invitation.state
  if (state !== 'open' || link.codeId !== mailId || link.delivery !== 'mailed') throw notResendable()
  return answerOf(await resendInvitation(context, { invitationId, delivery: undefined }, call))
}

function isMailed<C extends Code>(code: C | undefined, mailId: string): code is C {
  return code?.codeId === mailId && code.delivery !== 'returned'
}

type Link = { urlTemplate?: string | undefined }

// A link brings the code to who chose it. So only they send it again: what another caller may do would stand behind it.
function linkOf({ urlTemplate, askedBy }: Code, { caller }: Call): Link {
  return askedBy === caller.userId ? { urlTemplate } : {}
}

function answerOf({ details, mailId }: ResendMailResponse): ResendMailResponse {
  return { details, mailId }
}

function notResendable() {
  return new RosterError(
    'FAILED_PRECONDITION',
    'MAIL_NOT_RESENDABLE',
    'The code of the mail was used or replaced, or it is a mail that only the person can ask for, or a notice.',
  )
}

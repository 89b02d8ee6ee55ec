import type { PageAnswer, ShowInvitationRequest } from '#gen/roster/users/v1/sign_in_service'
import { show } from '../../openid/authorization/answer.ts'
import type { Context } from '../../context.ts'
import { branded } from '../sign-in/branded.ts'

/** It looks nothing up: programs that check mails open links, and strangers learn no invitations. */
export function showInvitation(
  context: Context,
  { invitationId, problem }: ShowInvitationRequest,
): Promise<PageAnswer> {
  return branded(context, show({ $case: 'invitationLink', value: { invitationId, problem } }))
}

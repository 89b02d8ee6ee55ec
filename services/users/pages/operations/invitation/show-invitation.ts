import type { PageAnswer, ShowInvitationRequest } from '#gen/roster/users/v1/sign_in_service'
import { show } from '../../../openid/authorization/answer.ts'
import type { Context } from '../../../context.ts'
import { brandedFor } from '../../sign-in/branded.ts'

/** It looks nothing up: programs that check mails open links, and strangers learn no invitations. */
export function showInvitation(
  context: Context,
  { invitationId, problem, organizationId }: ShowInvitationRequest,
): Promise<PageAnswer> {
  return brandedFor(context, show({ $case: 'invitationLink', value: { invitationId, problem } }), organizationId)
}

import type { GetInvitationRequest, GetInvitationResponse } from '#gen/roster/users/v1/invitation_service'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { ownInvitation } from './invitation-rows.ts'
import { showInvitation } from './show-invitation.ts'

export async function getInvitation(
  context: Context,
  { invitationId }: GetInvitationRequest,
  { organizationId }: Call,
): Promise<GetInvitationResponse> {
  const found = await ownInvitation(context, invitationId, organizationId)
  return { invitation: showInvitation(found, found, found.readAt) }
}

import type { RevokeInvitationRequest, RevokeInvitationResponse } from '#gen/roster/users/v1/invitation_service'
import { type Aggregate, details } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { type Invitation, type InvitationEvent, invitationKey } from '../../directory/events/invitation.ts'
import { keepEnd, ownInvitation } from './invitation-rows.ts'
import { withoutMail } from './new-link.ts'
import { refuseAccepted } from './resend-invitation.ts'

export async function revokeInvitation(
  context: Context,
  { invitationId: id }: RevokeInvitationRequest,
  call: Call,
): Promise<RevokeInvitationResponse> {
  await ownInvitation(context, id, call.organizationId)
  return context.store.execute({
    aggregate: invitationKey(id),
    call,
    decide({ state }: Aggregate<Invitation>): Decision<InvitationEvent> {
      refuseAccepted(state)
      if (state?.state === 'revoked') return { events: [], answer: undefined }
      return {
        events: [{ type: 'revoked', payload: {} }],
        writes: [keepEnd(id, 'revoked', null), withoutMail(id)],
        answer: undefined,
      }
    },
    respond: ({ after }) => ({ details: details(after) }),
  })
}

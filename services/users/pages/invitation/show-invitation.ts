import { type Invitation as Shown, InvitationState } from '#gen/roster/users/v1/invitation_service'
import { type Aggregate, details } from '#lib/eventstore/aggregate'
import { type Invitation, isOpenInvitation } from '../../directory/events/invitation.ts'
import type { InvitationTexts } from './invitation-rows.ts'

/** An invitation as a message, at a time. */
export function showInvitation(
  invitation: Omit<Aggregate<Invitation>, 'state'> & { state: Invitation },
  { email, preferredLanguage, message }: InvitationTexts & { email: string },
  now: Date,
): Shown {
  const { link, grants, organizationRoles, applicationId: appId = '', landingUri = '', userId = '' } = invitation.state
  return {
    invitationId: invitation.id,
    details: details(invitation),
    state: stateOf(invitation.state, now),
    email,
    preferredLanguage,
    message,
    appId,
    landingUri,
    grants,
    organizationRoles,
    isMailed: link.delivery === 'mailed',
    expirationDate: new Date(link.expiresAt),
    inviterId: link.inviterId,
    userId,
    rolesWithheld: invitation.state.rolesWithheld === true,
  }
}

function stateOf(invitation: Invitation, now: Date): InvitationState {
  const { state } = invitation
  if (state === 'accepted') return InvitationState.INVITATION_STATE_ACCEPTED
  if (state === 'revoked') return InvitationState.INVITATION_STATE_REVOKED
  return isOpenInvitation(invitation, now)
    ? InvitationState.INVITATION_STATE_PENDING
    : InvitationState.INVITATION_STATE_EXPIRED
}

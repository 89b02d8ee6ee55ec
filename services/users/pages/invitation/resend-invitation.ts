import { randomUUID } from 'node:crypto'
import type { ResendInvitationRequest, ResendInvitationResponse } from '#gen/roster/users/v1/invitation_service'
import { RosterError } from '#lib/errors'
import { type Aggregate, details } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import type { Call } from '#lib/rpc/headers'
import { refuseRemovedOrganization } from '../../../organization-status.ts'
import type { Context } from '../../context.ts'
import { type Invitation, type InvitationEvent, invitationKey } from '../../directory/events/invitation.ts'
import type { NewMail } from '../../directory/email/new-mail.ts'
import { statuses } from '../../directory/organizations/statuses.ts'
import { throttle } from '../../directory/rate-limits/throttle.ts'
import { keepNewLink, ownInvitation, pendingGuard } from './invitation-rows.ts'
import { permitInvited, requireGivable, requireMayInvite } from './invite.ts'
import { type MadeLink, makeLink } from './new-link.ts'

const mostAnHour = 3

export async function resendInvitation(
  context: Context,
  { invitationId: id, delivery }: ResendInvitationRequest,
  call: Call,
): Promise<ResendInvitationResponse & NewMail> {
  const { organizationId, caller } = call
  const found = await ownInvitation(context, id, organizationId)
  // The caller stands for the roles from now on.
  permitInvited(found.state, call)
  refuseAccepted(found.state)
  await requireGivable(context, found.state, call)
  await requireMayInvite(context, found.email, call)
  const codeId = randomUUID()
  let made: MadeLink | undefined
  const sent = await context.store.execute({
    aggregate: invitationKey(id),
    reads: { status: statuses.key(organizationId) },
    call,
    decide({ state }: Aggregate<Invitation>, now, { status }): Decision<InvitationEvent, MadeLink> {
      refuseRemovedOrganization(status)
      refuseAccepted(state)
      throttle(state?.resends ?? [], mostAnHour, 3600, now, 'CODE_THROTTLED')
      const link = makeLink(
        context,
        { id, organizationId, email: found.email, codeId, inviterId: caller.userId },
        delivery,
        now,
      )
      return {
        events: [{ type: 'resent', payload: link.facts }],
        writes: [keepNewLink(id, link.facts), ...link.writes],
        uses: link.uses,
        guards: [pendingGuard(organizationId)],
        answer: link,
      }
    },
    respond({ after, answer }) {
      made = answer
      return { details: details(after), link: answer.link, mailId: codeId }
    },
  })
  if (made?.mail) context.announceMail(made.mail)
  return sent
}

/** FAILED_PRECONDITION INVITATION_ACCEPTED. */
export function refuseAccepted(invitation: Invitation | undefined): void {
  if (invitation?.state !== 'accepted') return
  throw new RosterError('FAILED_PRECONDITION', 'INVITATION_ACCEPTED', 'The invitation was accepted already.')
}

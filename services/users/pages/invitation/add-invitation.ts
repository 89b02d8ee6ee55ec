import type { AddInvitationRequest, AddInvitationResponse } from '#gen/roster/users/v1/invitation_service'
import type { Violation } from '#lib/errors'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import {
  checkInvitation,
  createInvitation,
  invitedTo,
  permitInvited,
  requireGivable,
  requireMayInvite,
} from './invite.ts'

export const addInvitation = {
  permit: (request: AddInvitationRequest, call: Call): void => permitInvited(request, call),

  check: (_context: Context, request: AddInvitationRequest): Violation[] => checkInvitation(request),

  async handle(context: Context, request: AddInvitationRequest, call: Call): Promise<AddInvitationResponse> {
    await requireGivable(context, invitedTo(request), call)
    await requireMayInvite(context, request.email, call)
    const { mail, command } = createInvitation(context, request, call)
    const added = await context.store.execute(command)
    const waiting = mail()
    if (waiting) context.announceMail(waiting)
    return added
  },
}

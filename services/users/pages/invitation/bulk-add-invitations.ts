import type {
  AddInvitationResponse,
  BulkAddInvitationsRequest,
  BulkAddInvitationsResponse,
} from '#gen/roster/users/v1/invitation_service'
import { bulkResults } from '#lib/bulk-results'
import type { RosterError, Violation } from '#lib/errors'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import type { InvitedTo } from '../../directory/events/invitation.ts'
import { isRefusal } from './give-roles.ts'
import { checkInvitation, createInvitation, invitedTo, permitInvited, requireGivable } from './invite.ts'

export const bulkAddInvitations = {
  check: (_context: Context, { invitations }: BulkAddInvitationsRequest): Violation[] =>
    invitations.flatMap((invitation, index) => checkInvitation(invitation, `invitations[${index}].`)),

  async handle(
    context: Context,
    { invitations }: BulkAddInvitationsRequest,
    call: Call,
  ): Promise<BulkAddInvitationsResponse> {
    const refusalOf = await refusals(context, invitations.map(invitedTo), call)
    const made = invitations.map((invitation) => createInvitation(context, invitation, call))
    const done = await context.store.executeAll<AddInvitationResponse, BulkAddInvitationsResponse>({
      commands: made.map(({ command }, index) => {
        const refused = refusalOf[index]
        return refused ? { ...command, decide: () => refuse(refused) } : command
      }),
      call,
      lane: call.organizationId,
      respond: (outcomes) => ({
        results: bulkResults(outcomes, ({ invitationId: id, details, link }) => ({
          id,
          details,
          emailCode: undefined,
          link,
        })),
      }),
    })
    for (const { mail } of made) {
      const waiting = mail()
      if (waiting) context.announceMail(waiting)
    }
    return done
  },
}

function refuse(error: RosterError): never {
  throw error
}

// Most invitations of a bulk give the same: that is asked once.
async function refusals(context: Context, invited: InvitedTo[], call: Call): Promise<(RosterError | undefined)[]> {
  const known = new Map<string, RosterError | undefined>()
  for (const each of invited) {
    const key = JSON.stringify(each)
    if (!known.has(key)) known.set(key, await refusal(context, each, call))
  }
  return invited.map((each) => known.get(JSON.stringify(each)))
}

async function refusal(context: Context, invited: InvitedTo, call: Call): Promise<RosterError | undefined> {
  try {
    permitInvited(invited, call)
    await requireGivable(context, invited, call)
    return undefined
  } catch (error) {
    if (isRefusal(error)) return error
    throw error
  }
}

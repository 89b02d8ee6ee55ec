import type {
  AddInvitationRequest,
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
import {
  checkInvitation,
  createInvitation,
  invitedTo,
  permitInvited,
  requireGivable,
  requireMayInvite,
} from './invite.ts'

export const bulkAddInvitations = {
  check: (_context: Context, { invitations }: BulkAddInvitationsRequest): Violation[] =>
    invitations.flatMap((invitation, index) => checkInvitation(invitation, `invitations[${index}].`)),

  async handle(
    context: Context,
    { invitations }: BulkAddInvitationsRequest,
    call: Call,
  ): Promise<BulkAddInvitationsResponse> {
    const refusalOf = await refusals(context, invitations, call)
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
async function refusals(
  context: Context,
  invitations: AddInvitationRequest[],
  call: Call,
): Promise<(RosterError | undefined)[]> {
  const known = new Map<string, RosterError | undefined>()
  const found: (RosterError | undefined)[] = []
  for (const invitation of invitations) {
    const invited = invitedTo(invitation)
    const key = JSON.stringify(invited)
    if (!known.has(key)) known.set(key, await refusal(() => requireAll(context, invited, call)))
    found.push(known.get(key) ?? (await refusal(() => requireMayInvite(context, invitation.email, call))))
  }
  return found
}

async function requireAll(context: Context, invited: InvitedTo, call: Call): Promise<void> {
  permitInvited(invited, call)
  await requireGivable(context, invited, call)
}

async function refusal(require: () => Promise<void>): Promise<RosterError | undefined> {
  try {
    await require()
    return undefined
  } catch (error) {
    if (isRefusal(error)) return error
    throw error
  }
}

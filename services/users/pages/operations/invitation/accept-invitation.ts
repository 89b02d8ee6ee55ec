import { type AcceptInvitationRequest, NoticeReason, type PageAnswer } from '#gen/roster/users/v1/sign_in_service'
import { RosterError } from '#lib/errors'
import type { Call } from '#lib/rpc/headers'
import { notice, toPage } from '../../../openid/authorization/answer.ts'
import { isAllowed } from '../../../openid/judge/judge.ts'
import { closeRequest } from '../../../openid/request/request-row.ts'
import type { Context } from '../../../context.ts'
import type { Invitation } from '../../../directory/events/invitation.ts'
import { Superseded } from '../../../sessions/browsers/superseded.ts'
import { findPeople } from '../../account/open-account.ts'
import { addInvited } from '../../invitation/add-invited.ts'
import { claimInvitation, finishInvitation } from '../../invitation/finish-invitation.ts'
import { giveRoles, isRefusal } from '../../invitation/give-roles.ts'
import { findInvited, type Invited } from '../../invitation/invited.ts'
import { findInvitedUser, setFirstFactor } from '../../invitation/invited-user.ts'
import { waysOfUser, waysToJoin } from '../../invitation/ways-to-join.ts'
import { join, type Joining } from '../registration/join.ts'
import { toLanding } from '../../invitation/landing.ts'
import { AddressTaken } from '../../../directory/login-names/address-holder.ts'
import { branded } from '../../sign-in/branded.ts'
import { openForm, type OpenedRequest, signingIn } from '../../sign-in/opened-request.ts'

/** Checks everything again: what was right when the page was shown may be over by now. */
export async function acceptInvitation(
  context: Context,
  request: AcceptInvitationRequest,
  call: Call,
): Promise<PageAnswer> {
  const opened = await openForm(context, request, signingIn)
  if ('answer' in opened) return opened.answer
  const { row } = opened
  try {
    const { invitation } = row.parameters
    if (invitation?.ofUser) return await joinAsUser(context, opened, invitation, request, call)
    const invited = invitation && (await findInvited(context, invitation))
    // The page says so.
    if (!invited) return toPage(row.id)
    const { holderId } = invited
    return holderId === undefined
      ? await join(context, opened, await asNewPerson(context, opened, invited, call), request, call)
      : await joinAs(context, opened, invited, holderId, call)
  } catch (error) {
    if (error instanceof Superseded || error instanceof AddressTaken) return toPage(row.id)
    if (error instanceof RosterError && error.reason === 'USER_ID_TAKEN') return toPage(row.id)
    throw error
  }
}

// Nobody is added, and no link is used up, before it is known that the roles can be given.
async function refuseUngiven(
  context: Context,
  { row }: OpenedRequest,
  invitation: Invited['invitation'],
  call: Call,
): Promise<PageAnswer | undefined> {
  try {
    await giveRoles(context, invitation, '', call)
    return undefined
  } catch (error) {
    if (!isRefusal(error)) throw error
    return branded(context, notice(NoticeReason.NOTICE_REASON_INVITATION_REFUSED), row.parameters)
  }
}

// A known person, who is signed in. What is cut off is finished without them.
async function joinAs(
  context: Context,
  opened: OpenedRequest,
  { invitation }: Invited,
  userId: string,
  call: Call,
): Promise<PageAnswer> {
  const { row } = opened
  const people = await findPeople(context, opened, '', call)
  if (!people.some(({ signedInUser, verdict }) => signedInUser.userId === userId && isAllowed(verdict)))
    return toPage(row.id)
  const { id } = invitation
  if (invitation.acceptingId !== id) {
    const refusal = await refuseUngiven(context, opened, invitation, call)
    if (refusal) return refusal
    await claimInvitation(context, { id, userId, codeId: invitation.state.link.codeId }, call)
  }
  await finishInvitation(context, id, call)
  return end(context, opened, invitation)
}

// A new person. Should what follows be cut off, the roles are given all the same.
async function asNewPerson(
  context: Context,
  opened: OpenedRequest,
  { invitation }: Invited,
  call: Call,
): Promise<Joining> {
  return {
    email: invitation.email,
    organizationId: invitation.organizationId,
    ways: await waysToJoin(context, invitation),
    refuse: () => refuseUngiven(context, opened, invitation, call),
    add: (chosen) => addInvited(context, invitation, chosen, call),
    finish: () => finishInvitation(context, invitation.id, call),
    end: () => end(context, opened, invitation),
  }
}

// A user without a password.
async function joinAsUser(
  context: Context,
  opened: OpenedRequest,
  invitation: { id: string; codeId: string },
  request: AcceptInvitationRequest,
  call: Call,
): Promise<PageAnswer> {
  const invited = await findInvitedUser(context, invitation, call)
  if (!invited) return toPage(opened.row.id)
  const { human, user } = invited
  const { id: userId, organizationId } = user
  const joining: Joining = {
    email: human.email,
    organizationId,
    ways: await waysOfUser(context, { userId, organizationId }, call),
    known: { ...human, userName: user.state.userName },
    refuse: async () => undefined,
    add: (chosen) => setFirstFactor(context, invited, chosen, call),
    finish: async () => {},
    end: () => end(context, opened, { state: { grants: [] } }),
  }
  return join(context, opened, joining, request, call)
}

async function end(
  context: Context,
  { row }: OpenedRequest,
  { state }: { state: Pick<Invitation, 'applicationId' | 'landingUri' | 'grants'> },
): Promise<PageAnswer> {
  await closeRequest(context.sql, row.id, 'given')
  return branded(context, await toLanding(context, state), row.parameters)
}

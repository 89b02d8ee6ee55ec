import { InvitationError, type PageAnswer, SignInError } from '#gen/roster/users/v1/sign_in_service'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { brandedPath } from '../../directory/email/page-link.ts'
import type { User } from '../../directory/events/user.ts'
import { type Invitation, invitationKey } from '../../directory/events/invitation.ts'
import { redirect } from '../../openid/authorization/answer.ts'
import type { Candidate } from '../../openid/authorization/candidates.ts'
import { isAllowed } from '../../openid/judge/judge.ts'
import type { Parameters } from '../../openid/request/parameters.ts'
import type { FactorKind } from '../../sessions/events/session.ts'
import { areSecond } from '../../sessions/factors/asked-first.ts'
import type { OpenedRequest } from './opened-request.ts'
import { signInPage } from './pages.ts'
import { newPasswordPage } from './new-password-page.ts'
import type { RequestState } from './request-state.ts'
import { invitationOver, invitationPage, invitedUserPage } from './invitation-page.ts'
import { findInvited } from '../invitation/invited.ts'
import { findInvitedUser } from '../invitation/invited-user.ts'
import { findLanding, toLanding } from '../invitation/landing.ts'
import { provedToJoin } from './provider/join-by-provider.ts'
import { waysOfUser, waysToJoin } from '../invitation/ways-to-join.ts'

type OfRequest = NonNullable<Parameters['invitation']>

/** The page that comes next in a request that accepts an invitation. */
export async function nextOfInvitation(
  context: Context,
  opened: Pick<OpenedRequest, 'row' | 'browser' | 'now'>,
  { people }: RequestState,
  factorPage: (kinds: readonly FactorKind[], person: Candidate) => PageAnswer | Promise<PageAnswer>,
  call: Call,
): Promise<PageAnswer> {
  const { row, now } = opened
  const invitation = row.parameters.invitation!
  if (invitation.ofUser) return nextOfUser(context, opened, call)
  const invited = await findInvited(context, invitation)
  if (!invited) return invitationOver()
  const { holderId } = invited
  const ways = await waysToJoin(context, invited.invitation)
  if (holderId === undefined)
    return invitationPage(context, invited, {
      row: withTaken(row),
      person: undefined,
      proved: provedToJoin(opened, ways),
      ways,
      now,
    })
  const person = people.find(({ signedInUser }) => signedInUser.userId === holderId)
  if (person && isAllowed(person.verdict))
    return invitationPage(context, invited, { row, person, proved: undefined, ways, now })
  const lack = person && 'missing' in person.verdict ? person.verdict.missing[0] : undefined
  // The second factor of the person who has just entered the password.
  if (person && lack?.what === 'factor' && areSecond(lack.kinds) && row.userId === holderId)
    return factorPage(lack.kinds, person)
  if (person && lack?.what === 'new-password' && row.userId === holderId) return newPasswordPage(row, person, now)
  const isOther = people.length > 0 && row.progress.error === undefined
  return signInPage(row, now, isOther ? SignInError.SIGN_IN_ERROR_INVITED_PERSON : undefined)
}

// A user without a password.
async function nextOfUser(
  context: Context,
  opened: Pick<OpenedRequest, 'row' | 'browser' | 'now'>,
  call: Call,
): Promise<PageAnswer> {
  const { row, now } = opened
  const { id } = row.parameters.invitation!
  const invitedUser = await findInvitedUser(context, row.parameters.invitation!, call)
  if (!invitedUser) return invitationOver()
  const ways = await waysOfUser(context, { userId: id, organizationId: invitedUser.user.organizationId }, call)
  const proved = provedToJoin(opened, ways)
  return invitedUserPage(context, invitedUser, { row: withTaken(row), person: undefined, proved, ways, now })
}

// Whoever signed in by a provider here is another person than the one who is invited.
function withTaken(row: OpenedRequest['row']): Pick<OpenedRequest['row'], 'progress'> {
  const { progress, sessionId } = row
  if (sessionId === null || progress.error || progress.proved || progress.invitation) return row
  const error = InvitationError.INVITATION_ERROR_PROVIDER_TAKEN
  return { progress: { ...progress, invitation: { error } } }
}

/** Where the person comes to after accepting. */
export async function landingOf(
  context: Context,
  { id, ofUser }: OfRequest,
): Promise<{ location: string; name: string }> {
  const invitation = ofUser ? undefined : await context.store.load<Invitation>(invitationKey(id).type, id)
  return findLanding(context, invitation?.state ?? { grants: [] })
}

/** The page of a request that is over: where the invitation was accepted, the way on; else the one to begin it again. */
export async function showAccepted(
  context: Context,
  { id, organizationId, ofUser, codeId }: OfRequest,
): Promise<PageAnswer> {
  const again = redirect(brandedPath(`/ui/invitation/${encodeURIComponent(id)}`, organizationId))
  if (ofUser) {
    const user = await context.store.load<User>('user', id)
    return user?.state.human?.invite?.codeId === codeId ? again : toLanding(context, { grants: [] })
  }
  const invitation = await context.store.load<Invitation>(invitationKey(id).type, id)
  return invitation?.state.state === 'accepted' ? toLanding(context, invitation.state) : again
}

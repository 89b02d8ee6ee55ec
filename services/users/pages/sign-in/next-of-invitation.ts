import { type PageAnswer, SignInError } from '#gen/roster/users/v1/sign_in_service'
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

type OfRequest = NonNullable<Parameters['invitation']>

/** The page that comes next in a request that accepts an invitation. */
export async function nextOfInvitation(
  context: Context,
  { row, now }: Pick<OpenedRequest, 'row' | 'now'>,
  { people }: RequestState,
  factorPage: (kinds: readonly FactorKind[], person: Candidate) => PageAnswer | Promise<PageAnswer>,
  call: Call,
): Promise<PageAnswer> {
  const invitation = row.parameters.invitation!
  const typed = row.progress.invitation
  if (invitation.ofUser) {
    const invitedUser = await findInvitedUser(context, invitation, call)
    return invitedUser ? invitedUserPage(context, invitedUser, { typed, now }) : invitationOver()
  }
  const invited = await findInvited(context, invitation)
  if (!invited) return invitationOver()
  const { holderId } = invited
  if (holderId === undefined) return invitationPage(context, invited, { typed, person: undefined, now })
  const person = people.find(({ signedInUser }) => signedInUser.userId === holderId)
  if (person && isAllowed(person.verdict)) return invitationPage(context, invited, { typed, person, now })
  const lack = person && 'missing' in person.verdict ? person.verdict.missing[0] : undefined
  // The second factor of the person who has just entered the password.
  if (person && lack?.what === 'factor' && areSecond(lack.kinds) && row.userId === holderId)
    return factorPage(lack.kinds, person)
  if (person && lack?.what === 'new-password' && row.userId === holderId) return newPasswordPage(row, person, now)
  const isOther = people.length > 0 && row.progress.error === undefined
  return signInPage(row, now, isOther ? SignInError.SIGN_IN_ERROR_INVITED_PERSON : undefined)
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

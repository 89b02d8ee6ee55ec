import {
  type AcceptInvitationRequest,
  InvitationError,
  NoticeReason,
  type PageAnswer,
  RegistrationError,
} from '#gen/roster/users/v1/sign_in_service'
import { orUnavailable } from '#lib/database/database'
import { RosterError } from '#lib/errors'
import type { Call } from '#lib/rpc/headers'
import { notice, toPage } from '../../openid/authorization/answer.ts'
import { isAllowed } from '../../openid/judge/judge.ts'
import { advance, closeRequest, stillOpen } from '../../openid/request/request-row.ts'
import type { Context } from '../../context.ts'
import { hashPassword } from '../../directory/passwords/password-hashing.ts'
import { isWeak } from '../../directory/passwords/refuse-weak-password.ts'
import { rememberAddress } from '../../directory/rate-limits/known-addresses.ts'
import { networkOf } from '../../directory/rate-limits/token-buckets.ts'
import { Superseded } from '../../sessions/browsers/superseded.ts'
import { provedPassword } from '../../sessions/factors/password/password.ts'
import { openBrowserSession } from '../../sessions/open-browser-session.ts'
import { findPeople } from '../account/open-account.ts'
import { addInvited } from '../invitation/add-invited.ts'
import { claimInvitation, finishInvitation } from '../invitation/finish-invitation.ts'
import { giveRoles, isRefusal } from '../invitation/give-roles.ts'
import { findInvited, type Invited } from '../invitation/invited.ts'
import { toLanding } from '../invitation/landing.ts'
import { AddressTaken } from '../registration/address-holder.ts'
import { countTryFrom } from '../registration/registration-limits.ts'
import { findFault, typedIn } from '../registration/typed-registration.ts'
import { branded } from '../sign-in/branded.ts'
import { openForm, type OpenedRequest, signingIn } from '../sign-in/opened-request.ts'

/** Checks everything again: what was right when the page was shown may be over by now. */
export async function acceptInvitation(
  context: Context,
  request: AcceptInvitationRequest,
  call: Call,
): Promise<PageAnswer> {
  const opened = await openForm(context, request, signingIn)
  if ('answer' in opened) return opened.answer
  const { row } = opened
  const { invitation } = row.parameters
  const invited = invitation && (await findInvited(context, invitation))
  // The page says so.
  if (!invited) return toPage(row.id)
  try {
    const { holderId } = invited
    return holderId === undefined
      ? await join(context, opened, invited, request, call)
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

const errors = new Map<RegistrationError, InvitationError>([
  [RegistrationError.REGISTRATION_ERROR_GIVEN_NAME_INVALID, InvitationError.INVITATION_ERROR_GIVEN_NAME_INVALID],
  [RegistrationError.REGISTRATION_ERROR_FAMILY_NAME_INVALID, InvitationError.INVITATION_ERROR_FAMILY_NAME_INVALID],
  [RegistrationError.REGISTRATION_ERROR_PASSWORD_INVALID, InvitationError.INVITATION_ERROR_PASSWORD_INVALID],
])

// A new person.
async function join(
  context: Context,
  opened: OpenedRequest,
  { invitation }: Invited,
  request: AcceptInvitationRequest,
  call: Call,
): Promise<PageAnswer> {
  const { row, browser, now } = opened
  const { email, id } = invitation
  const { givenName, familyName, language } = typedIn({ ...request, email })
  const again = async (error: InvitationError, wait?: number) => {
    const retryAt = wait !== undefined && { retryAt: new Date(now.getTime() + wait * 1000).toISOString() }
    const typed = { givenName, familyName, error, ...retryAt }
    await orUnavailable(advance(context.keys, row.id, { asksName: true, invitation: typed })(context.sql))
    return toPage(row.id)
  }
  const fault = findFault({ email, givenName, familyName, language }, request.password)
  if (fault !== undefined) return again(errors.get(fault) ?? InvitationError.INVITATION_ERROR_GIVEN_NAME_INVALID)
  const wait = await countTryFrom(context, call.clientAddress, 'invitations')
  if (wait !== undefined) return again(InvitationError.INVITATION_ERROR_THROTTLED, wait)
  if (isWeak(request.password, { email, profile: { firstName: givenName, lastName: familyName } }))
    return again(InvitationError.INVITATION_ERROR_PASSWORD_TOO_COMMON)
  const refusal = await refuseUngiven(context, opened, invitation, call)
  if (refusal) return refusal
  let hash: string
  try {
    const lane = networkOf(call.clientAddress) ?? call.clientAddress
    hash = await hashPassword(request.password, { lane, deadline: call.deadline })
  } catch (error) {
    if (!(error instanceof RosterError) || error.reason !== 'PASSWORDS_THROTTLED') throw error
    return again(InvitationError.INVITATION_ERROR_THROTTLED, error.retryAfter ?? 1)
  }
  const guards = [stillOpen(row.id)]
  const user = await addInvited(context, invitation, { givenName, familyName, language, hash, guards }, call)
  // Should the rest fail, the person signs in by this page, and the roles follow.
  const session = await openBrowserSession(
    context,
    provedPassword(user),
    browser,
    { writes: (of) => [advance(context.keys, row.id, { chosen: true }, of)], guards },
    call,
  )
  const warn = (error: unknown) => context.log.warn({ err: error, invitationId: id }, 'work after an invitation failed')
  await Promise.all([
    finishInvitation(context, id, call).catch(warn),
    rememberAddress(context, id, call.clientAddress, undefined).catch(warn),
  ])
  return { ...(await end(context, opened, invitation)), newBrowser: session.newValue }
}

async function end(context: Context, { row }: OpenedRequest, { state }: Invited['invitation']): Promise<PageAnswer> {
  await closeRequest(context.sql, row.id, 'given')
  return branded(context, await toLanding(context, state), row.parameters)
}

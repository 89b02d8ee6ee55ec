import {
  InvitationError,
  type InvitationPage,
  NoticeReason,
  type PageAnswer,
} from '#gen/roster/users/v1/sign_in_service'
import type { Context } from '../../context.ts'
import { passwordLengths } from '../../directory/passwords/password-lengths.ts'
import { notice, show } from '../../openid/authorization/answer.ts'
import type { Candidate } from '../../openid/authorization/candidates.ts'
import type { Progress } from '../../openid/request/request-row.ts'
import { accountOf, secondsUntil } from './pages.ts'
import { nameOfInviter } from '../../directory/email/mail-content.ts'
import type { Invited } from '../invitation/invited.ts'
import type { InvitedUser } from '../invitation/invited-user.ts'
import { findLanding } from '../invitation/landing.ts'

/** What a new person fills in, or a known one presses. */
export async function invitationPage(
  context: Context,
  { invitation: { state, email, message } }: Invited,
  { typed, person, now }: { typed: Progress['invitation']; person: Candidate | undefined; now: Date },
): Promise<PageAnswer> {
  const { givenName = '', familyName = '', error = InvitationError.INVITATION_ERROR_UNSPECIFIED, retryAt } = typed ?? {}
  const [inviter, landing] = await Promise.all([
    nameOfInviter(context, state.link.inviterId),
    findLanding(context, state),
  ])
  const value: InvitationPage = {
    email,
    inviter,
    message,
    account: person && accountOf(person),
    namesAreKnown: false,
    givenName,
    familyName,
    error,
    retryAfter: secondsUntil(retryAt, now),
    ...passwordLengths(),
    applicationName: landing.name,
    keep: undefined,
    passkey: undefined,
    withoutPassword: false,
  }
  return show({ $case: 'invitation', value })
}

/** The same of a user without a password, whose names are known. */
export async function invitedUserPage(
  context: Context,
  { human: { email, invite } }: InvitedUser,
  { typed, now }: { typed: Progress['invitation']; now: Date },
): Promise<PageAnswer> {
  const value: InvitationPage = {
    email,
    inviter: await nameOfInviter(context, invite.invitedBy),
    message: '',
    account: undefined,
    namesAreKnown: true,
    givenName: '',
    familyName: '',
    error: typed?.error ?? InvitationError.INVITATION_ERROR_UNSPECIFIED,
    retryAfter: secondsUntil(typed?.retryAt, now),
    ...passwordLengths(),
    applicationName: invite.applicationName ?? '',
    keep: undefined,
    passkey: undefined,
    withoutPassword: false,
  }
  return show({ $case: 'invitation', value })
}

/** The link works no more. */
export function invitationOver(): PageAnswer {
  return notice(NoticeReason.NOTICE_REASON_INVITATION_OVER)
}

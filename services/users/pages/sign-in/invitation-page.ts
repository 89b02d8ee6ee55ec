import {
  InvitationError,
  type InvitationPage,
  NoticeReason,
  type PageAnswer,
  SignInError,
} from '#gen/roster/users/v1/sign_in_service'
import type { Context } from '../../context.ts'
import { passwordLengths } from '../../directory/passwords/password-lengths.ts'
import { notice, show } from '../../openid/authorization/answer.ts'
import type { Candidate } from '../../openid/authorization/candidates.ts'
import type { ProvedHere, RequestRow } from '../../openid/request/request-row.ts'
import { accountOf, secondsUntil } from './pages.ts'
import { nameOfInviter } from '../../directory/email/mail-content.ts'
import type { Invited } from '../invitation/invited.ts'
import type { InvitedUser } from '../invitation/invited-user.ts'
import { findLanding } from '../invitation/landing.ts'
import type { WaysToJoin } from '../invitation/ways-to-join.ts'
import { buttonOf } from './provider/offered-providers.ts'

/** What the page says of who is there: nobody yet, a known person, or one whom a provider has proved. */
interface Present {
  row: Pick<RequestRow, 'progress'>
  person: Candidate | undefined
  proved: ProvedHere | undefined
  ways: WaysToJoin
  now: Date
}

/** What a new person fills in, or a known one presses. */
export async function invitationPage(
  context: Context,
  { invitation: { state, email, message } }: Invited,
  present: Present,
): Promise<PageAnswer> {
  const { person, proved, row, now } = present
  const { error = InvitationError.INVITATION_ERROR_UNSPECIFIED, retryAt } = row.progress.invitation ?? {}
  const { givenName = proved?.givenName, familyName = proved?.familyName } = row.progress.invitation ?? {}
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
    givenName: givenName ?? '',
    familyName: familyName ?? '',
    error,
    retryAfter: secondsUntil(retryAt, now),
    ...passwordLengths(),
    applicationName: landing.name,
    keep: undefined,
    passkey: undefined,
    ...waysOn(present),
  }
  return show({ $case: 'invitation', value })
}

/** The same of a user without a password, whose names are known. */
export async function invitedUserPage(
  context: Context,
  { human: { email, invite } }: InvitedUser,
  present: Present,
): Promise<PageAnswer> {
  const { row, now } = present
  const typed = row.progress.invitation
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
    ...waysOn(present),
  }
  return show({ $case: 'invitation', value })
}

// By what the person joins.
function waysOn({ row: { progress }, person, proved, ways: { factors, providers, isException } }: Present) {
  const isByProvider = factors.includes('provider') && !person
  return {
    withoutPassword: !factors.includes('password'),
    providers: isByProvider && !proved ? providers.map(buttonOf) : [],
    provedBy: proved?.provider ?? '',
    provedAs: proved?.userName ?? '',
    providerError: isByProvider && !proved ? (progress.error ?? noneServes(providers)) : none,
    providersOfOthers: isException && !person ? providers.map(({ name }) => name) : [],
  }
}

const none = SignInError.SIGN_IN_ERROR_UNSPECIFIED

function noneServes(providers: readonly unknown[]): SignInError {
  return providers.length > 0 ? none : SignInError.SIGN_IN_ERROR_PROVIDER_NOT_AVAILABLE
}

/** The link works no more. */
export function invitationOver(): PageAnswer {
  return notice(NoticeReason.NOTICE_REASON_INVITATION_OVER)
}

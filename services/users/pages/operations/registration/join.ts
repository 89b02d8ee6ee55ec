import { InvitationError, type PageAnswer, RegistrationError } from '#gen/roster/users/v1/sign_in_service'
import type { AcceptInvitationRequest } from '#gen/roster/users/v1/sign_in_service'
import { orUnavailable } from '#lib/database/database'
import { RosterError } from '#lib/errors'
import type { Call } from '#lib/rpc/headers'
import { toPage } from '../../../openid/authorization/answer.ts'
import { advance, type ProvedHere, stillOpen } from '../../../openid/request/request-row.ts'
import type { Context } from '../../../context.ts'
import { NotLinked } from '../../../directory/links/link.ts'
import type { LoginUser } from '../../../directory/login-names/login-user.ts'
import { isWeak, type Known } from '../../../directory/passwords/refuse-weak-password.ts'
import { rememberAddress } from '../../../directory/rate-limits/known-addresses.ts'
import { networkOf } from '../../../directory/rate-limits/token-buckets.ts'
import { type Refusal, refusalOf, refused } from '../../../sessions/factors/passkey/ceremony.ts'
import { type MadePasskey, provedMade, readMade } from '../../../sessions/passkeys/made-passkey.ts'
import { refuseWhereNotAllowed } from '../../../sessions/passkeys/register.ts'
import type { ProvedFactor } from '../../../sessions/factors/factor.ts'
import { sealTokens } from '../../../sessions/factors/provider/kept-tokens.ts'
import { provedProvider } from '../../../sessions/factors/provider/provider.ts'
import { tellGrants } from '../../../sessions/factors/provider/tell-grants.ts'
import { provedPassword } from '../../../sessions/factors/password/password.ts'
import { provedMailbox } from '../../../sessions/factors/mailed-code/proved-mailbox.ts'
import type { NewSession } from '../../../sessions/record-factor.ts'
import { openBrowserSession } from '../../../sessions/open-browser-session.ts'
import type { Chosen, ChosenLink } from '../../invitation/add-invited.ts'
import { provedToJoin } from '../../sign-in/provider/join-by-provider.ts'
import type { WaysToJoin } from '../../invitation/ways-to-join.ts'
import { countTryFrom } from '../../registration/registration-limits.ts'
import { findFault, typedIn } from '../../registration/typed-registration.ts'
import { invitationBinding } from '../../sign-in/invitation-passkey.ts'
import type { OpenedRequest } from '../../sign-in/opened-request.ts'

/** An invitation that a person without a password accepts. */
export interface Joining {
  email: string
  /** Whose policy says whether a passkey may take the place of a password. */
  organizationId: string
  ways: WaysToJoin
  /** What is known of a user who is there already, and so not asked for. */
  known?: Known
  /** Nobody is added, and no link is used up, before it is known that nothing hinders that. */
  refuse(): Promise<PageAnswer | undefined>
  add(chosen: Chosen): Promise<LoginUser>
  /** What is left once the person is there. A failure is logged alone. */
  finish(): Promise<void>
  end(): Promise<PageAnswer>
}

const errors = new Map<RegistrationError, InvitationError>([
  [RegistrationError.REGISTRATION_ERROR_GIVEN_NAME_INVALID, InvitationError.INVITATION_ERROR_GIVEN_NAME_INVALID],
  [RegistrationError.REGISTRATION_ERROR_FAMILY_NAME_INVALID, InvitationError.INVITATION_ERROR_FAMILY_NAME_INVALID],
  [RegistrationError.REGISTRATION_ERROR_PASSWORD_INVALID, InvitationError.INVITATION_ERROR_PASSWORD_INVALID],
])

/** A person chooses a password, or in its place a passkey or an identity provider, and is signed in. */
export async function join(
  context: Context,
  opened: OpenedRequest,
  joining: Joining,
  request: AcceptInvitationRequest,
  call: Call,
): Promise<PageAnswer> {
  const { row, browser, now } = opened
  const { email, known, ways } = joining
  let byProvider = provedToJoin(opened, ways)
  const { givenName, familyName, language } = typedIn({ ...request, email })
  const keep = request.keep === 'on'
  const again = async (error: InvitationError, wait?: number) => {
    const retryAt = wait !== undefined && { retryAt: new Date(now.getTime() + wait * 1000).toISOString() }
    const typed = { givenName, familyName, error, ...retryAt }
    const progress = { asksName: true, keep, invitation: typed, ...(byProvider && { proved: byProvider }) }
    await orUnavailable(advance(context.keys, row.id, progress)(context.sql))
    return toPage(row.id)
  }
  const names = known ? { givenName: 'known', familyName: 'known' } : { givenName, familyName }
  const isByPasskey = request.credential !== ''
  const { factors } = ways
  const isByPassword = !isByPasskey && factors.includes('password')
  if (factors.includes('provider') && !isByPasskey && !byProvider)
    return again(InvitationError.INVITATION_ERROR_PROVIDER_LATE)
  const fault = findFault({ email, ...names, language }, isByPassword ? request.password : undefined)
  if (fault !== undefined) return again(errors.get(fault) ?? InvitationError.INVITATION_ERROR_GIVEN_NAME_INVALID)
  const wait = await countTryFrom(context, call.clientAddress, 'invitations')
  if (wait !== undefined) return again(InvitationError.INVITATION_ERROR_THROTTLED, wait)
  if (
    isByPassword &&
    isWeak(request.password, known ?? { email, profile: { firstName: givenName, lastName: familyName } })
  )
    return again(InvitationError.INVITATION_ERROR_PASSWORD_TOO_COMMON)
  const guards = [stillOpen(row.id)]
  const chosen = { givenName, familyName, language, guards }
  const { clientId } = row.parameters
  try {
    const passkey = isByPasskey ? await readPasskey(context, opened, joining, request.credential) : undefined
    const refusal = await joining.refuse()
    if (refusal) return refusal
    const factor = passkey
      ? { passkey }
      : isByPassword
        ? { hash: await hashOf(context, request.password, call) }
        : byProvider && { link: linkOf(byProvider) }
    const user = await joining.add({ ...chosen, ...factor })
    // Should the rest fail, the person signs in by this page, and the roles follow. A link that was not mailed has proved no
    // address, so no code is mailed to that yet.
    const proved = passkey
      ? provedMade(user, passkey.passkeyId)
      : isByPassword
        ? provedPassword(user)
        : byProvider
          ? await provedThere(context, user, byProvider)
          : factors.includes('mailed-code') && user.state.human?.isVerified && provedMailbox(user)
    const along = {
      writes: (of: NewSession) => [advance(context.keys, row.id, { chosen: true }, of)],
      guards,
      clientId,
      keep,
    }
    const warn = (error: unknown) =>
      context.log.warn({ err: error, userId: user.userId }, 'work after an invitation failed')
    // With the role the password opens a session.
    if (ways.isException) await joining.finish().catch(warn)
    const session = proved ? await openBrowserSession(context, proved, browser, along, call) : undefined
    if (byProvider && !passkey) await tellGrants(context, user, { ...byProvider, at: new Date(byProvider.at) }, call)
    await Promise.all([
      ways.isException ? undefined : joining.finish().catch(warn),
      rememberAddress(context, user.userId, call.clientAddress, undefined).catch(warn),
    ])
    return { ...(await joining.end()), newBrowser: session?.newValue ?? '' }
  } catch (error) {
    if (error instanceof NotLinked) {
      byProvider = undefined
      return again(InvitationError.INVITATION_ERROR_PROVIDER_TAKEN)
    }
    const refusal = refusalOf(error)
    if (refusal) return again(refusals[refusal] ?? InvitationError.INVITATION_ERROR_PASSKEY_INVALID)
    if (!(error instanceof RosterError)) throw error
    // The policy, the provider or the role has changed since: the person is there, and signs in by another page.
    if (error.reason === 'CREDENTIALS_INVALID') return toPage(row.id)
    if (error.reason !== 'PASSWORDS_THROTTLED') throw error
    return again(InvitationError.INVITATION_ERROR_THROTTLED, error.retryAfter ?? 1)
  }
}

const refusals: Partial<Record<Refusal, InvitationError>> = {
  late: InvitationError.INVITATION_ERROR_PASSKEY_LATE,
  unverified: InvitationError.INVITATION_ERROR_PASSKEY_UNVERIFIED,
  'not-allowed': InvitationError.INVITATION_ERROR_PASSKEY_NOT_ALLOWED,
}

function linkOf({ idpId, issuer, subject, userName }: ProvedHere): ChosenLink {
  return { idpId, issuer, subject, userName }
}

async function provedThere(context: Context, user: LoginUser, proved: ProvedHere): Promise<ProvedFactor> {
  const sealedTokens = await sealTokens(context, { userId: user.userId, idpId: proved.idpId }, proved.tokens)
  return provedProvider(user, { ...proved, sealedTokens })
}

function hashOf(context: Context, password: string, { clientAddress, deadline }: Call): Promise<string> {
  return context.passwordHashes.hash(password, { lane: networkOf(clientAddress) ?? clientAddress, deadline })
}

// It is all that the person will have to sign in by, on a page that knows no name.
async function readPasskey(
  context: Context,
  opened: OpenedRequest,
  { organizationId }: Joining,
  credential: string,
): Promise<MadePasskey> {
  await refuseWhereNotAllowed(context, organizationId)
  const made = await readMade(context, { credential, name: '', binding: invitationBinding(opened) })
  if (made.discoverable === false) throw refused('wrong')
  return made
}

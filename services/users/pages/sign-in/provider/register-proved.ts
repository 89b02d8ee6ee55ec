import { v7 as uuid } from 'uuid'
import { type PageAnswer, RegistrationError, SignInError } from '#gen/roster/users/v1/sign_in_service'
import { Gender } from '#gen/roster/users/v1/user'
import { orUnavailable } from '#lib/database/database'
import { RosterError } from '#lib/errors'
import type { Decision } from '#lib/eventstore/command'
import type { Call } from '#lib/rpc/headers'
import { isOpen } from '../../../../organization-status.ts'
import type { Context } from '../../../context.ts'
import { sameAddress } from '../../../directory/email/address.ts'
import type { User, UserEvent } from '../../../directory/events/user.ts'
import { linking, NotLinked } from '../../../directory/links/link.ts'
import type { LoginUser } from '../../../directory/login-names/login-user.ts'
import { claimUserName, newProfile } from '../../../directory/new-user.ts'
import { statuses } from '../../../directory/organizations/statuses.ts'
import { toPage } from '../../../openid/authorization/answer.ts'
import { advance, type Progress, type ProvedHere, stillOpen } from '../../../openid/request/request-row.ts'
import { Superseded } from '../../../sessions/browsers/superseded.ts'
import { loadLoginPolicy } from '../../../sessions/login-policy/load-login-policy.ts'
import { sealTokens } from '../../../sessions/factors/provider/kept-tokens.ts'
import { provedProvider } from '../../../sessions/factors/provider/provider.ts'
import { OrganizationClosed } from '../../registration/add-registered.ts'
import { AddressTaken, findHolder, takeAddress } from '../../../directory/login-names/address-holder.ts'
import { madeUserName } from '../../registration/made-user-name.ts'
import { countTryFrom } from '../../registration/registration-limits.ts'
import { findFault, type Typed, typedIn } from '../../registration/typed-registration.ts'
import type { OpenedRequest } from '../opened-request.ts'
import { isPassedBy } from './holders-of-address.ts'
import { tellGrants } from '../../../sessions/factors/provider/tell-grants.ts'
import { signInToRequest } from '../sign-in-to-request.ts'
import { trustedAddress } from './trusted-address.ts'

/** Seconds for which it counts whom a provider has proved. */
export const provedFor = 300

/**
 * Adds the user of a first sign-in at a provider, with what the person gave, and signs them in. The address is the provider's
 * word, or the person's: it proves nothing here, signs in nobody, and links no account. Where the organization trusts the
 * provider for the domain, it is worth the word of the organization, unless somebody has the address already.
 */
export async function registerProved(
  context: Context,
  opened: OpenedRequest,
  given: Typed,
  call: Call,
): Promise<PageAnswer> {
  const { row, now, browser } = opened
  const page = toPage(row.id)
  const { proved, ...progress } = row.progress
  if (!proved?.registersIn || !browser.isPresent) return page
  const next = async (after: Progress) => {
    await orUnavailable(advance(context.keys, row.id, after)(context.sql))
    return page
  }
  if (isOver(proved, now)) return next({ ...progress, error: SignInError.SIGN_IN_ERROR_PROVIDER_INVALID })
  const typed = typedIn(given)
  const again = (error: RegistrationError, wait?: number) => {
    const retryAt = wait !== undefined && { retryAt: new Date(now.getTime() + wait * 1000).toISOString() }
    return next({ ...progress, proved: { ...proved, ...typed, error, ...retryAt } })
  }
  const fault = findFault(typed)
  if (fault !== undefined) return again(fault)
  const { autoRegister } = await context.idp.lookupProvider({ idpId: proved.idpId }, call)
  if (!autoRegister || !(await maySignUp(context, proved.idpId, proved.registersIn)))
    return next({ ...progress, error: SignInError.SIGN_IN_ERROR_PROVIDER_REFUSED })
  const { verifiedEmail = '' } = proved
  const said = { idpId: proved.idpId, email: verifiedEmail, isVerified: true }
  if ((await isPassedBy(context, proved.registersIn, said, call)) !== undefined)
    return next({ ...progress, error: SignInError.SIGN_IN_ERROR_PROVIDER_REFUSED })
  const wait = await countTryFrom(context, call.clientAddress)
  if (wait !== undefined) return again(RegistrationError.REGISTRATION_ERROR_THROTTLED, wait)
  try {
    const registersIn = proved.registersIn
    const isVerified = await isAddressTrusted(context, proved, typed.email, registersIn)
    const add = (asVerified: boolean) =>
      addProved(context, row.id, { ...proved, ...typed, registersIn, isVerified: asVerified }, call)
    const user = await add(isVerified).catch((error: unknown) => {
      // Another first sign-in at the same moment has the address.
      if (error instanceof AddressTaken) return add(false)
      throw error
    })
    const signed = { ...opened, row: { ...row, progress } }
    const sealedTokens = await sealTokens(context, { userId: user.userId, idpId: proved.idpId }, proved.tokens)
    const factor = provedProvider(user, { ...proved, sealedTokens })
    const { newValue } = await signInToRequest(context, signed, factor, proved.keep, call)
    await tellGrants(context, user, { ...proved, at: new Date(proved.at) }, call)
    return { ...page, newBrowser: newValue }
  } catch (error) {
    if (error instanceof Superseded) return page
    // Two tabs: the other one has added the user, whom the next sign-in finds.
    const isGone = error instanceof OrganizationClosed || error instanceof NotLinked || isRefused(error)
    if (!isGone) throw error
    return next({ ...progress, error: SignInError.SIGN_IN_ERROR_PROVIDER_REFUSED })
  }
}

function isRefused(error: unknown): boolean {
  return error instanceof RosterError && error.reason === 'CREDENTIALS_INVALID'
}

/** Whether people of an organization sign in by a provider, and one of the instance may make some. It is asked at each step. */
export async function maySignUp(context: Context, idpId: string, organizationId: string): Promise<boolean> {
  const { providers, allowRegister } = await loadLoginPolicy(context, organizationId)
  const provider = providers.find((one) => one.idpId === idpId)
  return provider !== undefined && (provider.organizationId === organizationId || allowRegister)
}

/** Whether it counts no more whom a provider has proved. */
export function isOver({ at }: ProvedHere, now: Date): boolean {
  return now.getTime() - Date.parse(at) > provedFor * 1000
}

async function isAddressTrusted(
  context: Context,
  { idpId, verifiedEmail = '' }: ProvedHere,
  email: string,
  organizationId: string,
): Promise<boolean> {
  if (!sameAddress(email, verifiedEmail)) return false
  const trusted = await trustedAddress(context, { idpId, email: verifiedEmail, isVerified: true })
  if (trusted?.organizationId !== organizationId) return false
  return (await findHolder(context, { email, organizationId, anywhere: true })) === undefined
}

function addProved(
  context: Context,
  openRequestId: string,
  proved: ProvedHere & { registersIn: string; isVerified: boolean },
  { requestId, deadline }: Call,
): Promise<LoginUser> {
  const { idpId, issuer, subject, userName: called, registersIn: organizationId, email, isVerified } = proved
  const userId = uuid()
  const userName = madeUserName(proved)
  const profile = newProfile({
    firstName: proved.givenName,
    lastName: proved.familyName,
    nickName: proved.nickName,
    displayName: proved.displayName,
    preferredLanguage: proved.language,
    gender: Gender.GENDER_UNSPECIFIED,
  })
  return context.store.execute({
    aggregate: { type: 'user', id: userId },
    creates: true,
    reads: { status: statuses.key(organizationId) },
    call: { caller: { userId }, requestId, deadline },
    decide(_user, _now, { status }): Decision<UserEvent> {
      if (!isOpen(status)) throw new OrganizationClosed()
      const unproved = !isVerified && { unproved: true as const }
      const link = linking({ idpId, issuer, subject, userName: called, ...unproved })
      const taken =
        isVerified && takeAddress(context, userId, { email, organizationId, anywhere: true }, 'organization')
      return {
        organizationId,
        claims: [claimUserName(organizationId, userName), ...link.claims],
        events: [{ type: 'human.added', payload: { userName, profile, email, isVerified } }, ...link.events],
        ...(taken && { writes: [taken.write] }),
        guards: [stillOpen(openRequestId), ...(taken ? [taken.guard] : [])],
        answer: undefined,
      }
    },
    respond: ({ after }) => ({ userId, organizationId, state: after.state as User, hash: null, known: [] }),
  })
}

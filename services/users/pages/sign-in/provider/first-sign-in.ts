import type { FinishProviderSignInResponse } from '#gen/roster/idp/v1/internal_service'
import { type PageAnswer, SignInError } from '#gen/roster/users/v1/sign_in_service'
import { orUnavailable } from '#lib/database/database'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../../context.ts'
import { toPage } from '../../../openid/authorization/answer.ts'
import { onlyOrganization } from '../../../openid/request/request-organization.ts'
import { registeringOrganization } from '../../../openid/request/registering-organization.ts'
import { advance, type ProvedHere } from '../../../openid/request/request-row.ts'
import { joinsByProvider } from './join-by-provider.ts'
import { findFault, typedIn } from '../../registration/typed-registration.ts'
import type { OpenedRequest } from '../opened-request.ts'
import { type RequestState, requestStateOf } from '../request-state.ts'
import { findProviders } from '../../../sessions/factors/provider/known-providers.ts'
import { isOrganizationOpen } from '../../../directory/organizations/statuses.ts'
import { isPassedBy } from './holders-of-address.ts'
import { noteRefusal } from './note-refusal.ts'
import { furtherOf } from '../../../sessions/factors/provider/said-profile.ts'
import type { MatchedRoles } from '../../../sessions/factors/provider/provider.ts'
import { maySignUp, registerProved } from './register-proved.ts'

/** Whom a provider has proved, and what it says of them. */
export interface ProvedNow extends Pick<
  FinishProviderSignInResponse,
  'issuer' | 'subject' | 'autoRegister' | 'refusesLinking' | 'asksFirst'
> {
  idpId: string
  /** Empty: the instance has it. */
  ownerOrganizationId: string
  claims: NonNullable<FinishProviderSignInResponse['claims']>
  /** RFC 3339. */
  provedAt: string | undefined
  counted: string[]
  isAutoUpdate: boolean
  /** The rows of the provider's table that the claims match. Missing: it gives no roles. */
  roles?: MatchedRoles | undefined
  keep: boolean
  /** The person pressed the button of the provider. */
  byButton: true | undefined
  /** The person's session there; empty: it does not say. */
  sid: string
  /** What the provider gave. Missing: its record keeps nothing. */
  tokens?: FinishProviderSignInResponse['tokens']
  /** The claims as they came, in JSON, where they were wanted. */
  said: string
}

/**
 * A provider has proved somebody to whom no user is linked. Where it makes users, it makes one, and a page asks for what it
 * does not say. Else the person signs in as before, and links the account then.
 */
export async function firstSignIn(
  context: Context,
  opened: OpenedRequest,
  proved: ProvedNow,
  call: Call,
): Promise<PageAnswer> {
  const { row, browser, now } = opened
  const page = toPage(row.id)
  const state = await requestStateOf(context, opened, call)
  if ('notice' in state || !browser.isPresent) return page
  const owner = proved.ownerOrganizationId
  const [provider] = await findProviders(context.sql, [proved.idpId], owner)
  const { claims } = proved
  const { email, givenName, familyName } = typedIn({ ...claims, language: '' })
  const place = await placeOf(context, opened, state, proved)
  const said = { idpId: proved.idpId, email: claims.email, isVerified: claims.emailVerified }
  const passedBy = place === undefined ? undefined : await isPassedBy(context, place, said, call)
  const mayMake = place !== undefined && passedBy === undefined && (await maySignUp(context, proved.idpId, place))
  const registersIn = mayMake ? place : undefined
  const { invitation } = row.parameters
  const joins = invitation !== undefined && (await joinsByProvider(context, invitation, proved, call))
  const here: ProvedHere = {
    idpId: proved.idpId,
    issuer: proved.issuer,
    subject: proved.subject,
    provider: provider?.name ?? '',
    userName: (claims.preferredUsername || claims.email || claims.name).slice(0, 200),
    at: now.toISOString(),
    provedAt: proved.provedAt,
    counted: proved.counted,
    roles: proved.roles,
    keep: proved.keep,
    sid: proved.sid,
    tokens: proved.tokens,
    registersIn,
    email,
    verifiedEmail: claims.emailVerified ? claims.email : undefined,
    givenName,
    familyName,
    ...furtherOf(claims),
  }
  const { provider: _, error: __, proved: ___, ...progress } = row.progress
  const next = { ...progress, proved: here }
  // Of a provider that nobody connects an account with, the proof is worth nothing more. Nor is it where an application led there:
  // whoever made the link to that could have signed this browser in there, as themselves.
  const unknown =
    proved.refusesLinking || passedBy === 'shut-out' || invitation !== undefined
      ? { ...progress, error: SignInError.SIGN_IN_ERROR_PROVIDER_REFUSED }
      : { ...(proved.byButton ? next : progress), error: SignInError.SIGN_IN_ERROR_PROVIDER_UNKNOWN }
  const isRefused = registersIn === undefined && !joins
  await orUnavailable(advance(context.keys, row.id, isRefused ? unknown : next)(context.sql))
  if (isRefused) await noteRefusal(context, opened, { idpId: proved.idpId, error: unknown.error }, call)
  if (registersIn === undefined || proved.asksFirst || findFault(here) !== undefined) return page
  return registerProved(context, { ...opened, row: { ...row, progress: next } }, here, call)
}

// An organization's provider makes people of that alone, and needs its own switch alone; one of the instance makes them in the
// organization that the request is for, where that lets people register.
async function placeOf(
  context: Context,
  { row }: OpenedRequest,
  { requested, asked }: RequestState,
  { autoRegister, ownerOrganizationId: owner }: ProvedNow,
): Promise<string | undefined> {
  if (!autoRegister || row.parameters.invitation || asked?.hintedUser !== undefined) return undefined
  if (owner === '') return registeringOrganization(context, { asked, ...requested }, true)
  const only = onlyOrganization(row.parameters.scope, requested.application)
  return (only ?? owner) === owner && (await isOrganizationOpen(context, owner)) ? owner : undefined
}

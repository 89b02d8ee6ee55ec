import { IDPState } from '#gen/roster/idp/v1/identity_provider_service'
import { type SignInProvider, SignInProviderState as State } from '#gen/roster/users/v1/session_service'
import { codes, RosterError } from '#lib/errors'
import { instance } from '#lib/instance'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { livingPasskeys } from '../../directory/events/passkeys.ts'
import type { LoginUser } from '../../directory/login-names/login-user.ts'
import { findProviders } from '../../sessions/factors/provider/known-providers.ts'
import { findListedProviders } from '../../sessions/login-policy/load-login-policy.ts'
import { type PersonPolicy, servesFor } from '../../sessions/login-policy/login-policy.ts'
import { findHolder } from '../sign-in/provider/holders-of-address.ts'
import { trustedAddress } from '../sign-in/provider/trusted-address.ts'

/** What each state of a provider says to a person, and what helps. */
const sentences = {
  [State.SIGN_IN_PROVIDER_STATE_READY]: 'The user is connected to it, and the page has its button.',
  [State.SIGN_IN_PROVIDER_STATE_NOT_LINKED]:
    'The page has its button, and the user is not connected to it. Whoever comes by it and then signs in here is asked to connect it.',
  [State.SIGN_IN_PROVIDER_STATE_NOT_LISTED]:
    'The user is connected to it, and the login policy does not list it, so no page has its button. UpdateLoginPolicy lists it.',
  [State.SIGN_IN_PROVIDER_STATE_INACTIVE]:
    'It is deactivated, so no page has its button. ReactivateIDP, or ReactivateOrganizationIDP, opens it again.',
  [State.SIGN_IN_PROVIDER_STATE_NOT_THERE]:
    'Neither the organization of the user nor the instance has it: it was removed, or another organization has it.',
  [State.SIGN_IN_PROVIDER_STATE_NO_SIGN_IN]: 'Roster signs nobody in by its protocol yet.',
  [State.SIGN_IN_PROVIDER_STATE_ROLE_ON_INSTANCE]:
    'The user has a role on the instance, so no provider of an organization proves who it is. One of the instance does.',
  [State.SIGN_IN_PROVIDER_STATE_CONNECTS]:
    'The user is not connected to it. The organization trusts it for the address, so the next sign-in there connects the account.',
  [State.SIGN_IN_PROVIDER_STATE_CONNECTED_BY_ADDRESS]:
    'An address alone, or somebody else, connected the user to it, which counts for nobody with a role. RemoveIDPLink, and then the user connects it by hand.',
  [State.SIGN_IN_PROVIDER_STATE_CANNOT_CONNECT]:
    'The page has its button. The user is not connected to it, and has nothing else to sign in with and connect it. The next sign-in there does, once UpdateLoginPolicy trusts it for the verified domain of the address.',
} as const

/** The providers that the login policy lists, in its order, and then those to which the user is connected. UNAVAILABLE; errors of idp. */
export async function describeProviders(
  context: Context,
  user: LoginUser,
  policy: PersonPolicy,
  call: Call,
): Promise<SignInProvider[]> {
  const { organizationId, state: own } = user
  const listed = await findListedProviders(context, organizationId)
  const linked = (own.human?.links ?? []).map(({ idpId }) => idpId)
  const shown = await findProviders(context.sql, listed, organizationId)
  return Promise.all(
    [...new Set([...listed, ...linked])].map(async (idpId) => {
      const known = shown.find((one) => one.idpId === idpId)
      const { name, state } = known
        ? { name: known.name, state: await stateOfShown(context, user, policy, idpId, call) }
        : await stateOfOther(context, idpId, organizationId, call)
      return { idpId, name, state, sentence: sentences[state as keyof typeof sentences] }
    }),
  )
}

async function stateOfShown(
  context: Context,
  user: LoginUser,
  policy: PersonPolicy,
  idpId: string,
  call: Call,
): Promise<State> {
  if (!policy.providers.some((one) => one.idpId === idpId)) return State.SIGN_IN_PROVIDER_STATE_ROLE_ON_INSTANCE
  const { human } = user.state
  const link = human?.links?.find((one) => one.idpId === idpId)
  if (link)
    return servesFor(policy, link)
      ? State.SIGN_IN_PROVIDER_STATE_READY
      : State.SIGN_IN_PROVIDER_STATE_CONNECTED_BY_ADDRESS
  if (await connectsBySelf(context, user, policy, idpId, call)) return State.SIGN_IN_PROVIDER_STATE_CONNECTS
  const isAlone = policy.factors.includes('provider') && !hasLivingPasskey(user, policy)
  return isAlone ? State.SIGN_IN_PROVIDER_STATE_CANNOT_CONNECT : State.SIGN_IN_PROVIDER_STATE_NOT_LINKED
}

// What a sign-in there would find, whose address is the present one.
async function connectsBySelf(
  context: Context,
  { userId, organizationId, state: { human } }: LoginUser,
  { byHandAlone }: PersonPolicy,
  idpId: string,
  call: Call,
): Promise<boolean> {
  if (!human || byHandAlone) return false
  const { email } = human
  const trusted = await trustedAddress(context, { idpId, email, isVerified: true })
  if (trusted?.organizationId !== organizationId) return false
  if ((await findHolder(context, email, trusted))?.userId !== userId) return false
  return !(await context.idp.lookupProvider({ idpId }, call)).refusesLinking
}

/** Whether a passkey begins the person's sign-in. */
export function hasLivingPasskey({ state: { human } }: LoginUser, policy: PersonPolicy): boolean {
  return policy.allowPasskeys && livingPasskeys(human, policy).some(({ secondOnly }) => !secondOnly)
}

// Whether another organization has it is nobody's business here.
async function stateOfOther(
  { idp }: Context,
  idpId: string,
  home: string,
  call: Call,
): Promise<{ name: string; state: State }> {
  const found = await idp.lookupProvider({ idpId }, call).catch(orUndefined)
  const isTheirs = found && [home, instance.id].includes(found.organizationId)
  if (!isTheirs || found.state === IDPState.IDP_STATE_UNSPECIFIED)
    return { name: '', state: State.SIGN_IN_PROVIDER_STATE_NOT_THERE }
  const { name } = found
  if (found.state === IDPState.IDP_STATE_INACTIVE) return { name, state: State.SIGN_IN_PROVIDER_STATE_INACTIVE }
  if (!found.signsIn) return { name, state: State.SIGN_IN_PROVIDER_STATE_NO_SIGN_IN }
  return { name, state: State.SIGN_IN_PROVIDER_STATE_NOT_LISTED }
}

function orUndefined(error: unknown): undefined {
  if (error instanceof RosterError && error.code === codes.NOT_FOUND) return undefined
  throw error
}

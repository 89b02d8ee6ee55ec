import type { ProviderClaims } from '#gen/roster/idp/v1/internal_service'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../context.ts'
import type { LoginUser } from '../directory/login-names/login-user.ts'
import { loadPersonPolicy } from './login-policy/load-person-policy.ts'
import { servesFor } from './login-policy/login-policy.ts'
import { followAttributes } from './factors/provider/follow-attributes.ts'
import type { MatchedRoles } from './factors/provider/provider.ts'
import { tellGrants } from './factors/provider/tell-grants.ts'

interface SaidByProvider {
  idpId: string
  /** When the person signed in there. */
  at: Date
  isAutoUpdate: boolean
  claims: ProviderClaims
  roles?: MatchedRoles | undefined
}

/**
 * After a sign-in at a provider: gives the roles and takes over the attributes that it says. Where the link does not serve the
 * person, nothing is: whoever named that link would rename people with a role, and take their grants. `isComplete`: the session
 * lacks no factor. Errors of grants; UNAVAILABLE.
 */
export async function followProvider(
  context: Context,
  user: LoginUser,
  said: SaidByProvider,
  isComplete: boolean,
  call: Call,
): Promise<void> {
  const link = user.state.human?.links?.find(({ idpId }) => idpId === said.idpId)
  if (!link || !servesFor(await loadPersonPolicy(context, user, call), link)) return
  await tellGrants(context, user, said, call)
  await followAttributes(context, user, said, isComplete, call)
}

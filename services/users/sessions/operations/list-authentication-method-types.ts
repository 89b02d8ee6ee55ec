import type {
  ListAuthenticationMethodTypesRequest,
  ListAuthenticationMethodTypesResponse,
} from '#gen/roster/users/v1/user_service'
import type { Context } from '../../context.ts'
import { findUserById } from '../../directory/login-names/login-user.ts'
import { factorKinds } from '../factors/kinds.ts'
import type { FactorKind } from '../events/session.ts'
import { askedSecondFactors, ownFactors } from '../login-policy/login-policy.ts'
import { loadLoginPolicy } from '../login-policy/load-login-policy.ts'
import { existing } from '../../directory/states/user-state.ts'

export async function listAuthenticationMethodTypes(
  context: Context,
  { userId }: ListAuthenticationMethodTypesRequest,
): Promise<ListAuthenticationMethodTypesResponse> {
  const user = await findUserById(context, userId)
  existing(user?.state)
  const policy = await loadLoginPolicy(context, user!.organizationId)
  const asked = askedSecondFactors(policy, ownFactors(user!.state.human))
  const provable = Object.entries(factorKinds).filter(
    ([kind, { isSetUp, second }]) =>
      isSetUp(user!) || (asked.includes(kind as FactorKind) && second?.isReady(user!.state)),
  )
  return { authMethodTypes: provable.map(([, { method }]) => method) }
}

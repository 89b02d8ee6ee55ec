import type {
  ListAuthenticationMethodTypesRequest,
  ListAuthenticationMethodTypesResponse,
} from '#gen/roster/users/v1/user_service'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../../context.ts'
import { findUserById } from '../../../directory/login-names/login-user.ts'
import { factorKinds } from '../../factors/kinds.ts'
import type { FactorKind } from '../../events/session.ts'
import { askedSecondFactors, ownFactors } from '../../login-policy/login-policy.ts'
import { loadPersonPolicy } from '../../login-policy/load-person-policy.ts'
import { existing } from '../../../directory/states/user-state.ts'

export async function listAuthenticationMethodTypes(
  context: Context,
  { userId }: ListAuthenticationMethodTypesRequest,
  call: Call,
): Promise<ListAuthenticationMethodTypesResponse> {
  const user = await findUserById(context, userId)
  existing(user?.state)
  const policy = await loadPersonPolicy(context, user!, call)
  const asked = askedSecondFactors(policy, ownFactors(user!.state.human, policy))
  const provable = Object.entries(factorKinds).filter(
    ([kind, { isSetUp, second }]) =>
      (isSetUp(user!, policy) && (kind !== 'mailed-code' || policy.factors.includes(kind))) ||
      (asked.includes(kind as FactorKind) && second?.isReady(user!.state, policy)),
  )
  return { authMethodTypes: [...new Set(provable.map(([, { method }]) => method))] }
}

import type {
  ListAuthenticationMethodTypesRequest,
  ListAuthenticationMethodTypesResponse,
} from '#gen/roster/users/v1/user_service'
import type { Context } from '../../context.ts'
import { findUserById } from '../../directory/login-names/login-user.ts'
import { factorKinds } from '../factors/kinds.ts'
import { loadLoginPolicy } from '../login-policy/load-login-policy.ts'
import { existing } from '../../directory/states/user-state.ts'

export async function listAuthenticationMethodTypes(
  context: Context,
  { userId }: ListAuthenticationMethodTypesRequest,
): Promise<ListAuthenticationMethodTypesResponse> {
  const user = await findUserById(context, userId)
  existing(user?.state)
  const { forceMfa } = await loadLoginPolicy(context, user!.organizationId)
  const provable = Object.values(factorKinds).filter(
    ({ isSetUp, second }) => isSetUp(user!) || (forceMfa && second?.isReady(user!.state)),
  )
  return { authMethodTypes: provable.map(({ method }) => method) }
}

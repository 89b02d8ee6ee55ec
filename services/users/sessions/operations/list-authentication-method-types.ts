import {
  AuthenticationMethodType,
  type ListAuthenticationMethodTypesRequest,
  type ListAuthenticationMethodTypesResponse,
} from '#gen/roster/users/v1/user_service'
import type { Context } from '../../context.ts'
import { findUserById } from '../../directory/login-names/login-user.ts'
import { existing } from '../../directory/states/user-state.ts'

export async function listAuthenticationMethodTypes(
  context: Context,
  { userId }: ListAuthenticationMethodTypesRequest,
): Promise<ListAuthenticationMethodTypesResponse> {
  const user = await findUserById(context, userId)
  existing(user?.state)
  const { AUTHENTICATION_METHOD_TYPE_PASSWORD } = AuthenticationMethodType
  return { authMethodTypes: user!.hash === null ? [] : [AUTHENTICATION_METHOD_TYPE_PASSWORD] }
}

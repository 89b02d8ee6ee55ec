import type { GetUserInfoRequest, GetUserInfoResponse } from '#gen/roster/users/v1/oauth_service'
import { permissionDenied } from '#lib/rpc/authorize'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { findRoles } from '../../oauth/scoped-roles.ts'
import { plainScopes, readScope } from '../../oauth/scope.ts'
import { existing } from '../../states/user-state.ts'
import type { User } from '../../vocabulary/user.ts'
import { userNotFound } from '../../vocabulary/user-not-found.ts'

export async function getUserInfo(
  context: Context,
  _request: GetUserInfoRequest,
  call: Call,
): Promise<GetUserInfoResponse> {
  const { userId, scope: granted = plainScopes.join(' ') } = call.caller
  const scope = readScope(granted)
  if (!scope.names.has('openid')) throw permissionDenied()
  const user = await context.store.load<User>('user', userId)
  if (!user) throw userNotFound()
  const { projectOrganizationId: _, ...roles } = await findRoles(context, user, scope, call)
  return {
    sub: userId,
    organization: user.organizationId,
    ...(scope.names.has('profile') && profileOf(existing(user.state))),
    ...(scope.names.has('email') && emailOf(user.state)),
    ...roles,
  }
}

function profileOf({ userName, human, machine }: User) {
  if (!human) return { preferredUsername: userName, name: machine?.name }
  const { firstName, lastName, nickName, displayName, preferredLanguage } = human.profile
  return {
    preferredUsername: userName,
    name: displayName,
    givenName: firstName,
    familyName: lastName,
    nickname: nickName,
    locale: preferredLanguage || undefined,
  }
}

function emailOf({ human }: User) {
  return human && { email: human.email, emailVerified: human.isVerified }
}

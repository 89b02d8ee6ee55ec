import type { GetUserInfoRequest, GetUserInfoResponse } from '#gen/roster/users/v1/oauth_service'
import { type Existing, exists } from '#lib/eventstore/aggregate'
import { RosterError } from '#lib/errors'
import { permissionDenied } from '#lib/rpc/authorize'
import type { Call } from '#lib/rpc/headers'
import { findPerson } from '../authorization/later-facts.ts'
import type { Context } from '../../context.ts'
import { type UserClaims, userClaims, wantedBy } from '../tokens/claims.ts'
import { personScope, scopesOf } from '../tokens/person-scope.ts'
import { roleMaps } from '../tokens/role-claims.ts'
import { findRoles } from '../tokens/scoped-roles.ts'
import { plainScopes, readScope } from '../scope.ts'
import type { User } from '../../directory/events/user.ts'
import { userNotFound } from '../../directory/events/user-not-found.ts'

export async function getUserInfo(
  context: Context,
  _request: GetUserInfoRequest,
  call: Call,
): Promise<GetUserInfoResponse> {
  const { userId, scope: granted = plainScopes.join(' '), authorizationId } = call.caller
  const scope = readScope(granted)
  if (!scope.names.has('openid')) throw permissionDenied()
  if (authorizationId !== undefined) return describePerson(context, authorizationId, scope.names, call)
  const user = await findUser(context, userId)
  const { projectOrganizationId, ...roles } = await findRoles(context, user, scope, call)
  const claims = await userClaims(context, user, wantedBy([...scope.names]), projectOrganizationId)
  return { ...shown(user, claims), ...roles }
}

/** To an application that a person let have a token. Of its scopes the plain ones may be fewer than the person gave. */
async function describePerson(
  context: Context,
  authorizationId: string,
  names: ReadonlySet<string>,
  call: Call,
): Promise<GetUserInfoResponse> {
  const person = await findPerson(context, 'userinfo', authorizationId, call)
  const user = person?.reads.user
  if (!user || !exists(user) || person.allowed.userId !== call.caller.userId)
    throw new RosterError('UNAUTHENTICATED', 'TOKEN_INVALID', 'The token is not valid.')
  const { allowed, authorization } = person
  const { application, project } = allowed
  context.arrivals.step(application.clientId, 'userinfo')
  const { claims: named } = authorization.state
  const scopes = scopesOf(allowed, { names })
  const { roles: asked, asksMaps } = personScope(scopes, application.oidc!, project)
  const isNamed = wantedBy([], named)
  const wanted = {
    names: isNamed('organization_roles') ? new Set([...asked.names, 'roles']) : asked.names,
    projectId: isNamed('roles') || isNamed('project_roles') ? project.id : asked.projectId,
  }
  const [{ projectOrganizationId: _, ...roles }, claims] = await Promise.all([
    findRoles(context, user, wanted, call),
    userClaims(context, user, wantedBy(scopes, named), project.organizationId),
  ])
  const { projectId } = wanted
  return {
    ...shown(user, claims),
    ...roles,
    namedClaims:
      asksMaps && projectId !== undefined ? await roleMaps(context, projectId, roles.projectRoles, call) : undefined,
  }
}

async function findUser({ store }: Context, userId: string): Promise<Existing<User>> {
  const user = await store.load<User>('user', userId)
  if (!user) throw userNotFound()
  return user
}

function shown({ id, organizationId }: Existing<User>, claims: UserClaims) {
  const { preferred_username, given_name, family_name, email_verified, updated_at, ...others } = claims
  return {
    sub: id,
    organization: organizationId,
    ...others,
    preferredUsername: preferred_username,
    givenName: given_name,
    familyName: family_name,
    emailVerified: email_verified,
    updatedAt: updated_at,
  } as Pick<GetUserInfoResponse, 'sub' | 'organization' | 'name' | 'email' | 'emailVerified'>
}

import type { IntrospectTokenRequest, IntrospectTokenResponse } from '#gen/roster/users/v1/oauth_service'
import type { Call } from '#lib/rpc/headers'
import { methodOf } from '../clients/application-client.ts'
import { toldName, wantedBy } from '../tokens/claims.ts'
import { authenticateOnce, checkClient } from '../clients/client.ts'
import type { Context } from '../../context.ts'
import { issuerOf } from '../../directory/issuer.ts'
import { mayKnow } from '../tokens/may-know.ts'
import { noteUse } from '../../directory/machine-credentials/credential-uses.ts'
import { personScope, scopesOf } from '../tokens/person-scope.ts'
import { roleMaps } from '../tokens/role-claims.ts'
import { findRoles } from '../tokens/scoped-roles.ts'
import { readScope } from '../scope.ts'
import { describeRefreshToken } from '../refresh/describe-refresh-token.ts'
import { type ActiveToken, findActive } from '../authorization/active-token.ts'

export const introspectToken = {
  check: (_context: Context, request: IntrospectTokenRequest) => checkClient(request),
  async handle(context: Context, request: IntrospectTokenRequest, call: Call): Promise<IntrospectTokenResponse> {
    const client = await authenticateOnce(context, request, call)
    // Any caller may name a public client, and would learn what others may not.
    if (!('machine' in client) && methodOf(client.application) === 'none') return client.fail('method')
    const found = await findActive(context, request.token, call)
    if (!found) {
      const refreshToken = await describeRefreshToken(context, client, request.token, call)
      return { ...nothing(refreshToken !== undefined), ...refreshToken }
    }
    const { token, person } = found
    if (!mayKnow(client, token, person?.allowed.application.id)) return nothing(false)
    noteUse(context, token)
    return describe(context, found, call)
  },
}

async function describe(
  context: Context,
  { token, person }: ActiveToken,
  call: Call,
): Promise<IntrospectTokenResponse> {
  const { userId, organizationId, expiresAt, access } = token
  const scope = readScope(access?.scope ?? '')
  const { allowed } = person ?? {}
  const scopes = allowed && scopesOf(allowed, scope)
  const of = scopes && personScope(scopes, allowed.application.oidc!, allowed.project)
  const thumbprint = access?.dpopThumbprint
  const iss = issuerOf(context.config)
  const { projectOrganizationId: _, ...roles } = await findRoles(context, { id: userId, organizationId }, scope, call)
  return {
    ...nothing(true),
    ...(access && {
      clientId: allowed?.application.clientId ?? userId,
      jti: access.tokenId,
      iat: seconds(access.issuedAt),
      scope: (of?.given ?? scope.text) || undefined,
    }),
    // What a person did not let the application see, no server that introspects sees, either.
    username: toldName(
      token.user,
      scopes ? wantedBy(scopes) : (claim) => claim === 'preferred_username' || !token.user.nameIsMade,
    ),
    tokenType: thumbprint ? 'DPoP' : 'Bearer',
    cnf: thumbprint ? { jkt: thumbprint } : undefined,
    exp: expiresAt ? seconds(expiresAt) : undefined,
    sub: userId,
    acr: allowed?.acr,
    authTime: allowed && seconds(allowed.authTime),
    aud: [scope.projectId ?? iss],
    iss,
    organization: organizationId,
    ...roles,
    namedClaims:
      of?.asksMaps && scope.projectId !== undefined
        ? await roleMaps(context, scope.projectId, roles.projectRoles, call)
        : undefined,
  }
}

function nothing(active: boolean): IntrospectTokenResponse {
  return { active, aud: [], roles: [], projectRoles: [], organizationRoles: [] }
}

function seconds(time: Date): number {
  return Math.floor(time.getTime() / 1000)
}

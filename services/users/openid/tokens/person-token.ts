import { v7 as uuid } from 'uuid'
import { OIDCTokenType } from '#gen/roster/grants/v1/application_service'
import type { IssueTokenResponse } from '#gen/roster/users/v1/oauth_service'
import type { ByFunction } from '#lib/database/database'
import type { ServiceCall } from '#lib/rpc/call'
import type { Context } from '../../context.ts'
import { newToken, storeToken } from '../../directory/tokens/token.ts'
import { idTokenFor } from './id-token-claims.ts'
import { issuerOf } from '../../directory/issuer.ts'
import type { PersonGrant } from './person-grant.ts'
import { type PersonScope, personScope } from './person-scope.ts'
import { roleClaims, roleMaps } from './role-claims.ts'
import { findRoles } from './scoped-roles.ts'

export interface PersonTokens {
  tokenId: string
  response: IssueTokenResponse
  /** Stores the access token. */
  write: ByFunction
}

/** Makes an access token, and an ID token where the scopes ask for one. UNAVAILABLE; errors of grants. */
export async function makePersonTokens(
  context: Context,
  grant: PersonGrant,
  now: Date,
  call: ServiceCall,
): Promise<PersonTokens> {
  const { allowed, authorizationId, dpopThumbprint } = grant
  const { userId, organizationId, project } = allowed
  const oidc = allowed.application.oidc!
  const scope = personScope(grant.scopes, oidc, project)
  const seconds = Math.floor(now.getTime() / 1000)
  const iat = seconds - oidc.clockSkew
  const lifetime = Math.min(context.config.PERSON_TOKEN_LIFETIME, oidc.accessTokenLifetime || Infinity)
  const [tokenId, exp] = [uuid(), seconds + lifetime]
  const isJwt = oidc.accessTokenType === OIDCTokenType.OIDC_TOKEN_TYPE_JWT
  const [text, idToken] = await Promise.all([
    isJwt ? signAccessToken(context, grant, scope, { iat, exp, jti: tokenId }, call) : newToken(),
    scope.stored.names.has('openid') ? idTokenFor(context, grant, scope, iat, call) : undefined,
  ])
  return {
    tokenId,
    response: {
      accessToken: text,
      tokenType: dpopThumbprint === undefined ? 'Bearer' : 'DPoP',
      expiresIn: lifetime,
      scope: scope.given || undefined,
      idToken,
      refreshToken: undefined,
    },
    write: storeToken(text, {
      userId,
      organizationId,
      human: true,
      sessionId: '',
      authorizationId,
      expiresAt: new Date(exp * 1000),
      access: {
        tokenId,
        scope: scope.stored.text,
        projectOrganizationId: scope.stored.projectId === undefined ? '' : project.organizationId,
        issuedAt: new Date(iat * 1000),
        dpopThumbprint: dpopThumbprint ?? null,
      },
    }),
  }
}

async function signAccessToken(
  context: Context,
  { allowed, dpopThumbprint }: PersonGrant,
  { stored, given, roles: asked, asksMaps }: PersonScope,
  times: { iat: number; exp: number; jti: string },
  call: ServiceCall,
): Promise<string> {
  const { userId, organizationId, application, acr, authTime } = allowed
  const asserted = application.oidc!.accessTokenRoleAssertion
  const wanted = { names: asked.names, projectId: asserted ? stored.projectId : asked.projectId }
  const roles = await findRoles(context, { id: userId, organizationId }, wanted, call)
  return context.signingKeys.sign({
    iss: issuerOf(context.config),
    sub: userId,
    aud: [stored.projectId ?? issuerOf(context.config)],
    client_id: application.clientId,
    organization: organizationId,
    ...(given !== '' && { scope: given }),
    // So that an API can demand them (RFC 9470).
    auth_time: Math.floor(authTime.getTime() / 1000),
    acr,
    ...roleClaims(roles, wanted),
    ...(asksMaps &&
      wanted.projectId !== undefined &&
      (await roleMaps(context, wanted.projectId, roles.projectRoles, call))),
    ...(dpopThumbprint !== undefined && { cnf: { jkt: dpopThumbprint } }),
    ...times,
  })
}

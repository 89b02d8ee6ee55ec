import type { IntrospectTokenRequest, IntrospectTokenResponse } from '#gen/roster/users/v1/oauth_service'
import type { Call } from '#lib/rpc/headers'
import { authenticateOnce, checkClient } from '../../oauth/client.ts'
import type { Context } from '../../context.ts'
import { issuerOf } from '../../oauth/issuer.ts'
import type { Machine } from '../../oauth/machines.ts'
import { findRoles } from '../../oauth/scoped-roles.ts'
import { readScope } from '../../oauth/scope.ts'
import { type FoundToken, findToken, hashToken } from '../../token.ts'

export const introspectToken = {
  check: (_context: Context, request: IntrospectTokenRequest) => checkClient(request),
  async handle(context: Context, request: IntrospectTokenRequest, call: Call): Promise<IntrospectTokenResponse> {
    const client = await authenticateOnce(context, request, call)
    const token = await findToken(context, hashToken(request.token))
    return token && mayKnow(client.machine, token) ? describe(context, token, call) : nothing(false)
  },
}

function mayKnow(machine: Machine, { organizationId, access }: FoundToken): boolean {
  return [organizationId, access?.projectOrganizationId].includes(machine.organizationId)
}

async function describe(context: Context, token: FoundToken, call: Call): Promise<IntrospectTokenResponse> {
  const { userId, organizationId, expiresAt, access } = token
  const scope = readScope(access?.scope ?? '')
  const thumbprint = access?.dpopThumbprint
  const iss = issuerOf(context.config)
  const { projectOrganizationId: _, ...roles } = await findRoles(context, { id: userId, organizationId }, scope, call)
  return {
    ...nothing(true),
    ...(access && {
      clientId: userId,
      jti: access.tokenId,
      iat: seconds(access.issuedAt),
      scope: scope.text || undefined,
    }),
    username: token.user.userName,
    tokenType: thumbprint ? 'DPoP' : 'Bearer',
    cnf: thumbprint ? { jkt: thumbprint } : undefined,
    exp: expiresAt ? seconds(expiresAt) : undefined,
    sub: userId,
    aud: [scope.projectId ?? iss],
    iss,
    organization: organizationId,
    ...roles,
  }
}

function nothing(active: boolean): IntrospectTokenResponse {
  return { active, aud: [], roles: [], projectRoles: [], organizationRoles: [] }
}

function seconds(time: Date): number {
  return Math.floor(time.getTime() / 1000)
}

import { IDTokenAlgorithm } from '#gen/roster/grants/v1/application_service'
import type { ServiceCall } from '#lib/rpc/call'
import type { OidcCopy } from '../applications/application-copy.ts'
import type { Context } from '../../context.ts'
import type { User } from '../../directory/events/user.ts'
import { userNotFound } from '../../directory/events/user-not-found.ts'
import { userClaims, wantedBy } from './claims.ts'
import { signIdToken } from './id-token.ts'
import type { idTokenAlgorithms } from './keys/id-token-keys.ts'
import type { PersonScope } from './person-scope.ts'
import type { PersonGrant } from './person-grant.ts'
import { roleClaims, roleMaps } from './role-claims.ts'
import { findRoles } from './scoped-roles.ts'

/**
 * The ID token of a sign-in (OpenID Connect Core section 2). Its audience is the client alone, so it needs no `azp`. It
 * says of the person what the application chose, or named in `claims`. UNAVAILABLE; errors of grants.
 */
export async function idTokenFor(
  context: Context,
  grant: PersonGrant,
  scope: PersonScope,
  iat: number,
  call: ServiceCall,
): Promise<string> {
  const { allowed, authorization, nonce } = grant
  const { application, userId, authTime, acr, amr } = allowed
  const [ofPerson, ofRoles] = await Promise.all([personIn(context, grant), rolesIn(context, grant, scope, call)])
  return signIdToken(
    context,
    algorithmOf(application.oidc!),
    {
      ...ofPerson,
      ...ofRoles,
      sub: userId,
      aud: application.clientId,
      auth_time: Math.floor(authTime.getTime() / 1000),
      ...(nonce !== '' && { nonce }),
      acr,
      amr,
      sid: authorization.sessionId,
    },
    iat,
  )
}

/** The algorithm that an application chose for what is signed for it. */
export function algorithmOf({ idTokenAlgorithm }: Pick<OidcCopy, 'idTokenAlgorithm'>) {
  return algorithms.get(idTokenAlgorithm) ?? 'RS256'
}

const algorithms = new Map<IDTokenAlgorithm, (typeof idTokenAlgorithms)[number]>([
  [IDTokenAlgorithm.ID_TOKEN_ALGORITHM_ES256, 'ES256'],
  [IDTokenAlgorithm.ID_TOKEN_ALGORITHM_EDDSA, 'EdDSA'],
  [IDTokenAlgorithm.ID_TOKEN_ALGORITHM_PS256, 'PS256'],
])

async function personIn(context: Context, { allowed, authorization, scopes }: PersonGrant) {
  const { application, project, userId } = allowed
  const chosen = application.oidc!.idTokenUserinfoAssertion ? scopes : []
  const wanted = wantedBy(chosen, authorization.claims, 'id_token')
  if (chosen.length === 0 && !authorization.claims.some((claim) => claim.startsWith('id_token.'))) return {}
  const user = await context.store.load<User>('user', userId)
  if (!user) throw userNotFound()
  return userClaims(context, user, wanted, project.organizationId)
}

async function rolesIn(
  context: Context,
  { allowed, authorization }: PersonGrant,
  scope: PersonScope,
  call: ServiceCall,
) {
  const { application, project, userId, organizationId } = allowed
  const named = wantedBy([], authorization.claims, 'id_token')
  const asserted = application.oidc!.idTokenRoleAssertion
  const asksProject = asserted || named('roles') || named('project_roles')
  const asksRoster = named('organization_roles') || (asserted && scope.stored.names.has('roles'))
  if (!asksProject && !asksRoster) return {}
  const wanted = { names: new Set(asksRoster ? ['roles'] : []), projectId: asksProject ? project.id : undefined }
  const roles = await findRoles(context, { id: userId, organizationId }, wanted, call)
  const maps = asserted && scope.asksMaps ? await roleMaps(context, project.id, roles.projectRoles, call) : {}
  return { ...roleClaims(roles, wanted), ...maps }
}

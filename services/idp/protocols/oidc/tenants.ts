import { decodeJwt, decodeProtectedHeader } from 'jose'
import type { AuthorizationServer, IDToken, JWKSCacheInput } from 'oauth4webapi'
import type { TenantList } from '#gen/roster/idp/v1/identity_provider_service'
import type { IDPPreset } from '#gen/roster/idp/v1/idp_config'
import { presetOf } from '../../presets.ts'
import { asObject } from '../checks.ts'
import { UpstreamError } from '../protocol.ts'

/** What stands in the issuer of all tenants where each one's has its id. */
const place = '{tenantid}'
const tenantId = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** The issuers that stand for those of tenants: of all, and of all but private accounts. */
const ofTenants = ['common', 'organizations']

/** Whether an issuer of a record stands for the one with the place of a tenant that its description names. */
export function standsForTenants(issuer: string, named: string): boolean {
  return named.includes(place) && ofTenants.some((each) => named.replace(place, each) === issuer.replace(/\/$/, ''))
}

/** Whether the issuer of a record stands for those of tenants. */
export function isOfTenants({ issuer, preset }: { issuer: string; preset?: IDPPreset | undefined }): boolean {
  const path = issuer.replace(/\/$/, '')
  return presetOf({ preset }).hasTenants === true && ofTenants.some((each) => path.endsWith(`/${each}/v2.0`))
}

/** The provider as the tenant of a token has it. What names the tenant is believed once the token is: by this issuer. */
export async function ofTenant(server: AuthorizationServer, answer: Response): Promise<AuthorizationServer> {
  if (!server.issuer.includes(place)) return server
  const { id_token: token } = asObject(await answer.clone().text()) ?? {}
  try {
    const { tid } = decodeJwt(String(token))
    if (typeof tid === 'string' && tenantId.test(tid)) return { ...server, issuer: server.issuer.replace(place, tid) }
  } catch {
    // It is no token.
  }
  throw new UpstreamError('not-believed', 'The provider gives no token of a tenant.')
}

/** Looks whether people of this tenant may sign in, and whether the key of the token may speak for it. */
export function checkTenant(claims: IDToken, idToken: string, tenants: TenantList | undefined, known: JWKSCacheInput) {
  const { tid } = claims
  const allowed = tenants?.ids ?? []
  if (typeof tid !== 'string' || (allowed.length > 0 && !allowed.includes(tid)))
    throw new UpstreamError('not-believed', 'The tenant is none of those whose people sign in.')
  // Some keys speak for one tenant alone, such as that of private accounts.
  const { kid } = decodeProtectedHeader(idToken)
  const keys: { kid?: string; issuer?: unknown }[] = 'jwks' in known ? known.jwks.keys : []
  const issuer = keys.find((key) => key.kid === kid)?.issuer
  if (typeof issuer === 'string' && issuer.replace(place, tid) !== claims.iss)
    throw new UpstreamError('not-believed', 'The key of the token is that of another tenant.')
}

import type { AuthorizationServer } from 'oauth4webapi'
import type { GuardedFetch } from '#lib/outbound/guarded-fetch'
import { presetOf } from '../../presets.ts'
import type { Configurations } from '../../vocabulary.ts'
import { askForObject, plain, texts } from '../checks.ts'
import { standsForTenants } from './tenants.ts'

/** Where a provider describes itself (OpenID Connect Discovery, 4). */
export function discoveryUrl(issuer: string): string {
  return `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
}

/** What a provider says of itself, or why it cannot be used. */
export async function discover(
  fetch: GuardedFetch,
  { issuer, preset }: Pick<Configurations['oidc'], 'issuer' | 'preset'>,
): Promise<{ answer?: Response | undefined } & ({ server: AuthorizationServer } | { problem: string })> {
  const asked = await askForObject(fetch, discoveryUrl(issuer))
  if (!('object' in asked)) return asked
  const { object, answer } = asked
  const named = object['issuer']
  if (typeof named !== 'string' || named === '') return { answer, problem: 'It names no issuer.' }
  // Its tokens have what it says itself. Another one could answer for whoever is at the address of the record.
  const isItself = named === issuer || named === `${issuer}/` || `${named}/` === issuer
  if (!isItself && !(presetOf({ preset }).hasTenants && standsForTenants(issuer, named)))
    return { answer, problem: `It names the issuer ${plain(named)}: store that one.` }
  return { answer, server: readServer(named, object) }
}

const addresses = [
  'authorization_endpoint',
  'token_endpoint',
  'userinfo_endpoint',
  'jwks_uri',
  'end_session_endpoint',
] as const
const lists = [
  'response_types_supported',
  'id_token_signing_alg_values_supported',
  'token_endpoint_auth_methods_supported',
  'code_challenge_methods_supported',
  'scopes_supported',
  'claims_supported',
] as const

// A stranger wrote it: what is of another type is as good as missing.
function readServer(issuer: string, object: Record<string, unknown>): AuthorizationServer {
  const named = addresses.map((name) => [name, object[name]] as const)
  const listed = lists.map((name) => [name, texts(object[name])] as const)
  return {
    issuer,
    ...Object.fromEntries(named.filter(([, value]) => typeof value === 'string')),
    ...Object.fromEntries(listed.filter(([, value]) => value !== undefined)),
    authorization_response_iss_parameter_supported: object['authorization_response_iss_parameter_supported'] === true,
  }
}

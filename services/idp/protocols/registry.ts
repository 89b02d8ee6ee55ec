import { IDPCheckKind as Kind } from '#gen/roster/idp/v1/idp_check'
import type { Protocol } from '../vocabulary.ts'
import { faulty } from './checks.ts'
import { jwt } from './jwt/test-jwt.ts'
import { oauth } from './oauth/test-oauth.ts'
import { oidc } from './oidc/test-oidc.ts'
import type { ProtocolWork } from './protocol.ts'

/** Each protocol, and its work. */
export const protocolWorks: { [P in Protocol]: ProtocolWork<P> } = {
  oidc,
  oauth,
  jwt,
  saml: notSpoken('SAML'),
  ldap: notSpoken('LDAP'),
}

function notSpoken(name: string): ProtocolWork<never> {
  const problem = `Roster does not speak ${name} yet. It keeps the record, and nobody signs in by it.`
  return { test: async () => [faulty(Kind.IDP_CHECK_KIND_SIGN_IN, '', problem)] }
}

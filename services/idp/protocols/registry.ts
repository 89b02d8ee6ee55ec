import { IDPCheckKind as Kind } from '#gen/roster/idp/v1/idp_check'
import { protocolOf } from '../show.ts'
import type { Idp, Protocol } from '../vocabulary.ts'
import { faulty } from './checks.ts'
import { jwt } from './jwt/jwt.ts'
import { oauth } from './oauth/oauth.ts'
import { oidc } from './oidc/oidc.ts'
import type { ProtocolWork, SigningInWork } from './protocol.ts'

/** Each protocol, and its work. */
export const protocolWorks: { [P in Protocol]: ProtocolWork<P> } = {
  oidc,
  oauth,
  jwt,
  saml: notSpoken('SAML'),
  ldap: notSpoken('LDAP'),
}

/** Whether people sign in by a provider: it is active, and Roster speaks its protocol. */
export function signsIn(idp: Idp): boolean {
  return !idp.removed && !idp.inactive && 'begin' in protocolWorks[protocolOf(idp)]
}

function notSpoken(name: string): ProtocolWork<never> {
  const problem = `Roster does not speak ${name} yet. It keeps the record, and nobody signs in by it.`
  return { test: async () => [faulty(Kind.IDP_CHECK_KIND_SIGN_IN, '', problem)] }
}

/** The work of a provider's protocol, which gets the settings of that protocol. Undefined: Roster does not speak it. */
export function signingInWork(idp: Idp): SigningInWork<Protocol> | undefined {
  const work = protocolWorks[protocolOf(idp)]
  return 'begin' in work ? (work as unknown as SigningInWork<Protocol>) : undefined
}

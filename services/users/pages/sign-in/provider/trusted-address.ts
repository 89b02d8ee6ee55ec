import type { Context } from '../../../context.ts'
import { canonicalAddress, mailAddress } from '../../../directory/email/address.ts'
import { domainOfAddress, organizationOfDomain } from '../../../directory/organizations/verified-domains.ts'
import { loadLoginPolicy } from '../../../sessions/login-policy/load-login-policy.ts'

/** What a provider says of an address. */
export interface SaidOfAddress {
  idpId: string
  email: string
  /** It says that the address is the person's. */
  isVerified: boolean
}

/** An address that a provider gave a person, and whose word counts for it. */
export interface TrustedAddress {
  /** The organization that has verified the domain, and trusts the provider for it. */
  organizationId: string
  domain: string
}

/**
 * Whether the word of a provider counts for an address: an organization has verified the domain, and its policy trusts this
 * provider for it, which it lists and which serves. Undefined: it does not count anywhere. It is asked at each step.
 */
export async function trustedAddress(
  context: Pick<Context, 'config' | 'store' | 'sql'>,
  { idpId, email, isVerified }: SaidOfAddress,
): Promise<TrustedAddress | undefined> {
  if (!isVerified || !isWrittenPlainly(email)) return undefined
  const domain = domainOfAddress(email)
  const organizationId = await organizationOfDomain(context.sql, domain)
  if (organizationId === undefined) return undefined
  const { providerDomains } = await loadLoginPolicy(context, organizationId)
  const isTrusted = providerDomains.some((one) => one.domain === domain && one.idpId === idpId && one.trusted)
  return isTrusted ? { organizationId, domain } : undefined
}

// A provider may have two people whose addresses Roster compares as one. So nothing but the case may differ.
function isWrittenPlainly(email: string): boolean {
  const [written, compared] = [email.toLowerCase(), canonicalAddress(email)]
  // Lower case alone makes a `k` of the Kelvin sign.
  return (
    email.includes('@') &&
    email.normalize('NFKC') === email &&
    (written === compared || written === mailAddress(compared))
  )
}

import { domainToASCII, domainToUnicode } from 'node:url'
import { canonicalName } from '#lib/search/canonical-name'
import type { Violation } from '#lib/errors'

const atom = String.raw`[\w!#$%&'*+/=?^{|}~\x60-]+`
const label = '[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?'
const addrSpec = new RegExp(String.raw`^${atom}(\.${atom})*@${label}(\.${label})*$`, 'i')
// Whatever else IDNA maps to such characters would look like another domain.
const domainName = /^[\p{L}\p{M}\p{N}.-]+$/u

/** The problems of an address that the contract does not declare. It is an addr-spec, whose domain may be in Unicode. */
export function checkAddress(address: string, field = 'email'): Violation[] {
  const mailed = mailAddress(address)
  const isNamed = isASCII(address) || domainName.test(domainOf(address))
  const isSound = isNamed && addrSpec.test(mailed) && mailed.length <= 254
  return isSound || !/^[^@ ]+@[^@ ]+$/.test(address)
    ? []
    : [{ field, description: 'must be one address, such as ada@example.com' }]
}

/**
 * The form in which addresses are compared, also parts of them: as names are, and with every domain in Unicode. A
 * mail server could distinguish the case of a local part, and none does.
 */
export function canonicalAddress(address: string): string {
  const text = canonicalName(address)
  // Most addresses. What follows costs a twentieth of a whole SetEmail.
  if (isASCII(text) && !text.includes('xn--')) return text
  const at = text.lastIndexOf('@') + 1
  const labels = text.slice(at).split('.')
  return text.slice(0, at) + labels.map(inUnicode).join('.')
}

/** Whether two spellings are one address. */
export function sameAddress(one: string, other: string): boolean {
  return one === other || canonicalAddress(one) === canonicalAddress(other)
}

/** The address as a mail server gets it: with its domain in Punycode. */
export function mailAddress(address: string): string {
  if (isASCII(address)) return address
  const at = address.lastIndexOf('@') + 1
  return address.slice(0, at) + address.slice(at).split('.').map(inASCII).join('.')
}

function domainOf(address: string): string {
  return address.slice(address.lastIndexOf('@') + 1)
}

// These two leave a label of ASCII alone: a number would be read as an address of IPv4.
function inASCII(label: string): string {
  const canonical = isASCII(label) ? label : canonicalName(label)
  return isASCII(canonical) ? canonical : domainToASCII(canonical)
}

function inUnicode(canonical: string): string {
  const isPlain = isASCII(canonical) && !canonical.startsWith('xn--')
  return isPlain ? canonical : domainToUnicode(inASCII(canonical)) || canonical
}

function isASCII(text: string): boolean {
  return !/\P{ASCII}/u.test(text)
}

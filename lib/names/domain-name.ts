import { domainToASCII } from 'node:url'

const label = '[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?'
// The last label is no number: that would be an address.
const domainNames = new RegExp(String.raw`^(${label}\.)+(?!\d+$)${label}$`)
// `domainToASCII` reads percent escapes, ports and paths, and IDNA maps other dots to dots.
const writable = /^[\p{L}\p{M}\p{N}.\u3002\uff0e\uff61-]+$/u

/** The one spelling of a domain: in lower case, in Punycode, without a dot at its end. Undefined: it is none, or has one label. */
export function domainName(text: string): string | undefined {
  const domain = writable.test(text) ? domainToASCII(text).replace(/\.$/, '') : ''
  return domain.length <= 253 && domainNames.test(domain) ? domain : undefined
}

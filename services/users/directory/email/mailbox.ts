import { domainToASCII } from 'node:url'

/**
 * One spelling for all addresses that reach the same mailbox, as far as an address shows it. It ignores letter case,
 * other forms of a character, a tag behind a plus, and the dots that Gmail ignores. A domain may be in Unicode or
 * Punycode, or end with a dot. Use it for counting alone, and mail nothing to it.
 */
export function mailboxOf(address: string): string {
  const text = address.normalize('NFKC').trim().toLowerCase()
  const at = text.lastIndexOf('@')
  const given = text.slice(at + 1).replace(/\.+$/, '')
  const domain = sameProvider.get(given) ?? (domainToASCII(given) || given)
  const whole = text.slice(0, Math.max(at, 0)).replace(/^"(.*)"$/, '$1')
  // A leading plus is no tag.
  const untagged = whole.replace(/(?<=.)\+.*$/, '')
  return `${domain === 'gmail.com' ? untagged.replaceAll('.', '') : untagged}@${domain}`
}

const sameProvider = new Map([['googlemail.com', 'gmail.com']])

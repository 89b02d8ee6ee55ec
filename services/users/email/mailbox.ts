import { domainToASCII } from 'node:url'

/**
 * What two addresses share that reach one mailbox, as far as an address tells: letters in either case, other forms of one character,
 * a domain in Unicode or Punycode or with a dot at its end, a tag behind a plus, and the dots that Gmail leaves out. It is for
 * counting alone: nothing is mailed to it.
 */
export function mailboxOf(address: string): string {
  const text = address.normalize('NFKC').trim().toLowerCase()
  const at = text.lastIndexOf('@')
  const given = text.slice(at + 1).replace(/\.+$/, '')
  const domain = sameProvider.get(given) ?? (domainToASCII(given) || given)
  const whole = text.slice(0, Math.max(at, 0)).replace(/^"(.*)"$/, '$1')
  // A plus in front is no tag.
  const untagged = whole.replace(/(?<=.)\+.*$/, '')
  return `${domain === 'gmail.com' ? untagged.replaceAll('.', '') : untagged}@${domain}`
}

const sameProvider = new Map([['googlemail.com', 'gmail.com']])

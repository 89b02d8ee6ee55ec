import { plainReply } from '../mails/smtp/plain-reply.ts'

/** A status of RFC 3463, such as 5.1.1, or nothing. */
export function plainStatus(text: string): string {
  return /^[245]\.\d{1,3}\.\d{1,3}(?![\d.])/.exec(text.trim())?.[0] ?? ''
}

/**
 * Why a mail bounced, in plain ASCII of a bounded length, without addresses. One of the given ones is the person's: their parts
 * are hidden, too, of which many are names.
 */
export function plainDiagnostic(text: string, addresses: string[]): string {
  return addresses
    .filter((address) => address.includes('@'))
    .map((address) => address.slice(0, 320))
    .toSorted((one, other) => other.length - one.length)
    .reduce(
      (plain, email) => plainReply(plain, { ...nothingElse, email, displayName: namesIn(email) }),
      plainReply(text, nothingElse),
    )
}

const nothingElse = { email: '', code: '', url: '', displayName: '' }

function namesIn(address: string): string {
  const parts = address.slice(0, address.lastIndexOf('@')).split(/[^\p{L}\p{N}]+/u)
  return parts.filter((part) => part.length > 2).join(' ')
}

import { plainReply } from '../mails/plain-reply.ts'

/** A status of RFC 3463, such as 5.1.1, or nothing. */
export function plainStatus(text: string): string {
  return /^[245]\.\d{1,3}\.\d{1,3}(?![\d.])/.exec(text.trim())?.[0] ?? ''
}

/**
 * Why a mail bounced, in plain ASCII of a bounded length. Addresses are hidden, and the two parts of the given ones, of which
 * one is the person's.
 */
export function plainDiagnostic(text: string, addresses: string[]): string {
  return addresses
    .filter((address) => address.includes('@'))
    .slice(0, 4)
    .map((address) => address.slice(0, 320))
    .reduce(
      (plain, email) => plainReply(plain, { ...nothingElse, email }),
      plainReply(text, { ...nothingElse, email: '' }),
    )
}

const nothingElse = { code: '', url: '', displayName: '' }

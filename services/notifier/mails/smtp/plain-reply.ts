import type { EmailCode } from '#gen/roster/users/v1/internal_service'

/** Mail servers write paragraphs at times. */
const longest = 300

/**
 * A mail server's reply without what is personal or secret, of which servers like to repeat addresses: the person's
 * address and name, any other address, the code and the link. In plain ASCII.
 */
export function plainReply(
  reply: unknown,
  { email, code, url, displayName }: Pick<EmailCode, 'email' | 'code' | 'url' | 'displayName'>,
): string {
  if (typeof reply !== 'string') return ''
  const at = email.lastIndexOf('@')
  const secrets = [url, code, email]
  const words = [email.slice(0, at), email.slice(at + 1), displayName, ...displayName.split(/\s+/)]
  const hidden = [
    ...secrets.filter((text) => text !== '').map((text) => literal(text)),
    '[^\\s<>"\'(),;:]+@[^\\s<>"\'(),;:]+',
    // Ada in "Adam" is no name.
    ...words.filter((text) => text !== '').map((text) => `(?<![\\p{L}\\p{N}])${literal(text)}(?![\\p{L}\\p{N}])`),
  ]
  return reply
    .slice(0, 10 * longest)
    .replace(new RegExp(hidden.join('|'), 'giu'), '…')
    .replace(/[^\x20-\x7e…]+/g, ' ')
    .replaceAll('…', '[hidden]')
    .trim()
    .slice(0, longest)
}

function literal(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')
}

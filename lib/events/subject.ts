import { createHash } from 'node:crypto'

/** Characters that a token may have at most: subject and place to answer to must fit into one line of NATS, which has 4 KiB. */
const longest = 400

/**
 * Any text as one token of a NATS subject. Letters, digits, `_` and `-` stay; of everything else the bytes in UTF-8 are written as
 * `%0D`, so that no blank, dot, wildcard or line end is left. No text at all is `%`; what would be too long is `%sha256-` and its hash.
 * No two texts have the same token.
 */
export function subjectToken(text: string): string {
  if (/^[\w-]{1,200}$/.test(text)) return text
  if (text === '') return '%'
  const token = text.toWellFormed().replace(/[^\w-]/gu, (character) => percentEncode(character))
  return token.length <= longest ? token : `%sha256-${createHash('sha256').update(text).digest('hex')}`
}

// Also what a URI may hold as it is, such as the dot.
function percentEncode(character: string): string {
  return [...Buffer.from(character)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('')
}

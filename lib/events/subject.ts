import { createHash } from 'node:crypto'

/**
 * The longest token in characters. The subject and the reply subject must fit into one line of NATS, which has 4 KiB.
 */
const longest = 400

/**
 * Writes any text as one token of a NATS subject. Letters, digits, `_` and `-` stay. Any other character becomes its
 * UTF-8 bytes, such as `%0D`, so that no blank, dot, wildcard or line end is left. The empty text is `%`. A text that
 * is too long becomes `%sha256-` and its hash. No two texts have the same token.
 */
export function subjectToken(text: string): string {
  if (/^[\w-]{1,200}$/.test(text)) return text
  if (text === '') return '%'
  const token = text.toWellFormed().replace(/[^\w-]/gu, (character) => percentEncode(character))
  return token.length <= longest ? token : `%sha256-${createHash('sha256').update(text).digest('hex')}`
}

// Also encodes characters that a URI may hold as they are, such as the dot.
function percentEncode(character: string): string {
  return [...Buffer.from(character)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('')
}

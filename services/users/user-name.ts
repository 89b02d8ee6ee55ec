import type { Violation } from '#lib/errors'

// All that a reader cannot see: control characters, those that Unicode gives no width or no meaning, such as a soft
// hyphen, and the blank of Braille.
const invisible = /[\p{C}\p{Default_Ignorable_Code_Point}\u2028\u2029\u2800]/gu
const outerBlank = /^\p{Zs}|\p{Zs}$/u

/** The problems of a new user name: it would look like the name of another user. */
export function checkUserName(userName: string, field = 'userName'): Violation[] {
  const descriptions = [
    ...(outerBlank.test(userName) ? ['must not begin or end with a blank'] : []),
    ...(seen(userName) !== userName ? ['must not hold a character that cannot be seen'] : []),
  ]
  return descriptions.map((description) => ({ field, description }))
}

/** A typed name without what a keyboard or a clipboard added: blanks at the ends, and what cannot be seen. */
export function meantName(typed: string): string {
  return seen(typed).trim()
}

function seen(text: string): string {
  return text.replaceAll(invisible, '')
}

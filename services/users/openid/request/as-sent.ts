/** Characters of what is shown of a client id, and of a URI. */
export const [mostOfClientId, mostOfUri] = [200, 500]

/**
 * A text of a stranger for a page or a log: printable ASCII without blanks, of a bounded length. Whatever else was in it is
 * seen by its code, such as `\u{20}`: what is hard to see is often what is wrong.
 */
export function asSent(text: string, most: number): string {
  const shown = text.slice(0, most).replaceAll(/[^\x21-\x7e]/gu, (character) => {
    return `\\u{${character.codePointAt(0)!.toString(16)}}`
  })
  return text.length > most || shown.length > most ? `${shown.slice(0, most)}…` : shown
}

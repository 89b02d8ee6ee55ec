/** A text of another system, safe for a terminal and a line: quoted, cut, and without symbols that nobody sees. */
export function shown(text: string): string {
  const cut = text.length > 200 ? `${text.slice(0, 200)}…` : text
  return JSON.stringify(cut).replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (symbol) => `\\u{${symbol.codePointAt(0)!.toString(16)}}`)
}

/** A text of another system on a line of its own making: quoted and cut. */
export function shown(text: string): string {
  return JSON.stringify(text.length > 200 ? `${text.slice(0, 200)}…` : text)
}

/** A line without symbols that steer a terminal or that nobody sees. */
export function visible(line: string): string {
  return line.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (symbol) => `\\u{${symbol.codePointAt(0)!.toString(16)}}`)
}

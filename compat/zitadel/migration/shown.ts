/** A text of another system on a line of its own making: quoted and cut. */
export function shown(text: string): string {
  return JSON.stringify(text.length > 200 ? `${text.slice(0, 200)}…` : text)
}

/** A line without symbols that steer a terminal or are invisible. Of blanks, only the space stays. */
export function visible(line: string): string {
  return line.replace(unseen, (symbol) => `\\u{${symbol.codePointAt(0)!.toString(16)}}`)
}

// The last three are drawn as blanks, which their properties do not say.
const unseen = /[\p{C}\p{Zl}\p{Zp}\p{DI}]|(?! )\p{Zs}|[\u2800\u{16fe4}\u{1d159}]/gu

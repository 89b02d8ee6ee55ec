import { unseen } from '#lib/names/name-faults'

/** A text of another system on a line of its own making: quoted and cut. */
export function shown(text: string): string {
  return JSON.stringify(text.length > 200 ? `${text.slice(0, 200)}…` : text)
}

/** A line without symbols that steer a terminal or are invisible. Of blanks, only the space stays. */
export function visible(line: string): string {
  return line.replace(steering, (symbol) => `\\u{${symbol.codePointAt(0)!.toString(16)}}`)
}

const steering = new RegExp(`${unseen.source}|(?! )\\p{Zs}`, 'gu')

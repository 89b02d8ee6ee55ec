import { visible } from '../migrate-zitadel/shown.ts'

/** Characters of a cell of a table. */
export const longestCell = 200

/** A text of others on a line of ours: without steering and invisible symbols, without runs of spaces, and cut. */
export function cell(text: string, longest = longestCell): string {
  const shown = visible(text.replace(/ +/g, ' ').slice(0, longest + 1))
  return shown.length > longest ? `${shown.slice(0, longest - 1)}…` : shown
}

/** An id as a word that may be copied into a shell. Nothing in it is run there. */
export function idCell(id: string): string {
  if (/^[A-Za-z0-9_/-]*$/.test(id)) return cell(id)
  return `'${cell(id.replaceAll("'", '\\u{27}'), longestCell - 2)}'`
}

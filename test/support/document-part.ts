import { readFileSync, writeFileSync } from 'node:fs'

/** The part of a document that a test writes. */
export interface DocumentPart {
  /** What stands there, without the empty lines around it. */
  text: string
  replace(text: string): void
}

/**
 * Finds in `docs/` what stands between `<!-- NAME: … -->`, which says who writes it, and `<!-- end of the NAME -->`.
 */
export function documentPart(document: string, name: string): DocumentPart {
  const file = new URL(`../../docs/${document}`, import.meta.url)
  const page = readFileSync(file, 'utf8')
  const found = new RegExp(`(?<=<!-- ${name}: [^\\n]*? -->\\n).*?(?=<!-- end of the ${name} -->)`, 's').exec(page)
  if (!found) throw new Error(`docs/${document} has no place for the ${name}`)
  const end = found.index + found[0].length
  return {
    text: found[0].trim(),
    replace: (text) => writeFileSync(file, `${page.slice(0, found.index)}\n${text}\n\n${page.slice(end)}`),
  }
}

import { readFileSync } from 'node:fs'

/** The lines of a block of a page in `docs/`, which begins with three backticks, `sh` or another language, and its name. */
export function documentLines(document: string, name: string): string {
  const page = readFileSync(new URL(`../../docs/${document}`, import.meta.url), 'utf8')
  const found = new RegExp('^ *```\\w+ ' + name + '\\n(.*?)^ *```$', 'ms').exec(page)?.[1]
  if (found === undefined) throw new Error(`docs/${document} has no block ${name}`)
  return found.replaceAll(/^ {3}/gm, '')
}

import { readFileSync } from 'node:fs'

/** Enters the code that stands behind the # of a link. It lies in the page, like the style. */
export const linkCodeScript = readFileSync(new URL('../link-code.js', import.meta.url), 'utf8')

import { readFileSync } from 'node:fs'

/** Says the times of a page in the reader's zone. It lies in the page, like the style. */
export const timesScript = readFileSync(new URL('../../local-times.js', import.meta.url), 'utf8')

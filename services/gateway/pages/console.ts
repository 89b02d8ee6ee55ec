import { existsSync, globSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { sourceOf } from './login/shell.ts'
import { etagOf, type Page, types } from './pages.ts'

/** Where the console is, which is no page of one path. */
const root = '/ui/console'
const built = fileURLToPath(new URL('../../../console/dist', import.meta.url))

// No script or style but files of this origin and the shell's own lines, and no text that becomes a script.
const policyOf = (shell: string) =>
  [
    "default-src 'none'",
    ["script-src 'self'", ...shell.matchAll(/<script>([^]*?)<\/script>/g).map(([, text]) => sourceOf(text!))].join(' '),
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "form-action 'none'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ')

/** Finds the file of the console that a path leads to. Undefined: the path is another's, or nothing is there. */
export type FindConsole = (path: string) => Page | undefined

/**
 * Reads the console as vite has built it, once. Its files have the paths that vite gave them; every other path below
 * `/ui/console` is a view, and leads to the shell. Neither needs a cookie, so that a link in a mail works. Where
 * nothing was built, there is no console.
 */
export function readConsole(folder = built): FindConsole {
  if (!existsSync(join(folder, 'index.html'))) return () => undefined
  const files = new Map(
    globSync('assets/*', { cwd: folder })
      .filter((file) => types[extname(file)] !== undefined)
      .map((file) => [`${root}/${file}`, readFile(folder, file, { immutable: true })]),
  )
  const policy = policyOf(readFileSync(join(folder, 'index.html'), 'utf8'))
  const shell = readFile(folder, 'index.html', { policy, isolated: true, stored: false })
  return (path) => {
    if (path.startsWith(`${root}/assets/`)) return files.get(path)
    return path === root || path.startsWith(`${root}/`) ? shell : undefined
  }
}

function readFile(folder: string, file: string, options: Partial<Page>): Page {
  const body = readFileSync(join(folder, file))
  const encoded = Object.entries({ br: '.br', gzip: '.gz' }).flatMap(([encoding, ending]) => {
    const name = join(folder, file + ending)
    return existsSync(name) ? [[encoding, readFileSync(name)] as const] : []
  })
  return { type: types[extname(file)]!, body, etag: etagOf(body), encoded: new Map(encoded), ...options }
}

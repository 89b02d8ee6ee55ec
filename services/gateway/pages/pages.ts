import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { extname, join, sep } from 'node:path'
import { send } from '../http/answers.ts'
import type { Exchange } from '../http/exchange.ts'

interface Page {
  type: string
  body: Buffer
  etag: string
  immutable: boolean
}

const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.txt': 'text/plain; charset=utf-8',
}

const security = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'cross-origin-opener-policy': 'same-origin',
}

/** Pages by their path, such as `/ui/verify.css`, or both `/ui/verify` and `/ui/verify.html` for verify.html. */
export type Pages = ReadonlyMap<string, Page>

/** Reads every page of a folder, once. Only files of known types are served. */
export function readPages(folder: string): Pages {
  const pages = new Map<string, Page>()
  for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const type = types[extname(file)]
    if (type === undefined || file.split(sep).some((part) => part.startsWith('.'))) continue
    const body = readFileSync(join(folder, file))
    const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`
    // A name that holds a hash of the content, such as page.3f2a9c01.js, never gets other content.
    const page = { type, body, etag, immutable: /\.[0-9a-f]{8,}\.\w+$/.test(file) }
    const path = `/ui/${file.split(sep).join('/')}`
    pages.set(path, page)
    if (path.endsWith('.html')) pages.set(path.slice(0, -'.html'.length), page)
    if (path.endsWith('/index.html')) pages.set(path.slice(0, -'index.html'.length), page)
  }
  return pages
}

/** Answers GET and HEAD of a page. */
export function servePage(exchange: Exchange, { type, body, etag, immutable }: Page): void {
  const headers = {
    ...security,
    etag,
    'content-type': type,
    'cache-control': immutable ? 'public, max-age=31536000, immutable' : 'no-cache',
  }
  const known = exchange.request.headers['if-none-match']
    ?.split(',')
    .some((tag) => tag.trim().replace(/^W\//, '') === etag)
  if (known) exchange.response.writeHead(304, { ...exchange.headers, ...headers }).end()
  else send(exchange, 200, headers, body)
}

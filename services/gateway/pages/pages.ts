import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { extname, join, sep } from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { type Exchange, send } from '../listen/exchange.ts'

/** A file that the gateway serves. */
export interface Page {
  type: string
  body: Buffer
  etag: string
  immutable?: boolean
  /** No window that opened it, or that it opened, keeps hold of it: Cross-Origin-Opener-Policy. */
  isolated?: boolean
  /** It looks as an organization wants it to. */
  takesBrand?: boolean
  /** Rules of its own about what it may load. */
  policy?: string
  /** The body for clients that take it compressed, once one of them has asked for it. */
  compressed?: Promise<Buffer>
  /** Bodies that were compressed before, by their encoding, the best one first. */
  encoded?: ReadonlyMap<string, Buffer>
  /** False: no cache keeps it. */
  stored?: boolean
}

/** The media type of a file, by its ending. */
export const types: Record<string, string> = {
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

/** Headers of every page. */
export const security = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  // With less, a form of a page would not say where it comes from.
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
}

/** Pages by their path, such as `/ui/verify.css`, or both `/ui/verify` and `/ui/verify.html` for verify.html. */
export type Pages = ReadonlyMap<string, Page>

/** Reads every page of a folder, once. Only files of known types are served. */
export function readPages(folder: string): Pages {
  const pages = new Map<string, Page>()
  for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const type = types[extname(file)]
    if (type === undefined || file.split(sep).some((part) => part.startsWith('.'))) continue
    // A name that holds a hash of the content, such as page.3f2a9c01.js, never gets other content.
    const body = readFileSync(join(folder, file))
    const page = createPage(type, () => body, {
      immutable: /\.[0-9a-f]{8,}\.\w+$/.test(file),
      takesBrand: file.endsWith('.html'),
    })
    const path = `/ui/${file.split(sep).join('/')}`
    pages.set(path, page)
    if (path.endsWith('.html')) pages.set(path.slice(0, -'.html'.length), page)
    if (path.endsWith('/index.html')) pages.set(path.slice(0, -'index.html'.length), page)
  }
  return pages
}

/** A page whose content is read at the first request for it. */
export function createPage(
  type: string,
  read: () => Buffer,
  options: Pick<Page, 'policy' | 'immutable' | 'isolated' | 'takesBrand'> = {},
): Page {
  let content: Pick<Page, 'body' | 'etag'> | undefined
  const load = () => (content ??= withTag(read()))
  return {
    type,
    ...options,
    get body() {
      return load().body
    },
    get etag() {
      return load().etag
    },
  }
}

export function etagOf(body: Buffer): string {
  return createHash('sha256').update(body).digest('base64url').slice(0, 22)
}

function withTag(body: Buffer): Pick<Page, 'body' | 'etag'> {
  return { body, etag: etagOf(body) }
}

const compress = promisify(gzip)
/** Smaller bodies go out as they are. */
const worthCompressing = 16 * 1024

/** Answers GET and HEAD of a page. */
export async function servePage(exchange: Exchange, page: Page): Promise<void> {
  const { type, etag, policy, isolated } = page
  const { headers: asked } = exchange.request
  const mayEncode = page.encoded !== undefined || page.body.length > worthCompressing
  const { encoding, body } = await encode(page, asked['accept-encoding'] ?? '')
  const headers = {
    ...security,
    ...(policy !== undefined && { 'content-security-policy': policy }),
    // A sign-in in a popup may pass a page below /ui, and needs its opener after it.
    ...(isolated && { 'cross-origin-opener-policy': 'same-origin' }),
    etag: `"${etag}${encoding && `-${encoding}`}"`,
    'content-type': type,
    'cache-control': cacheControl(page),
    ...(mayEncode && { vary: 'Origin, Accept-Encoding' }),
  }
  const known = asked['if-none-match']?.split(',').some((tag) => tag.trim().replace(/^W\//, '') === headers.etag)
  if (known) return void exchange.response.writeHead(304, { ...exchange.headers, ...headers }).end()
  send(exchange, 200, { ...headers, ...(encoding && { 'content-encoding': encoding }) }, body)
}

async function encode(page: Page, accepted: string): Promise<{ encoding: string; body: Buffer }> {
  const takes = (encoding: string) =>
    new RegExp(`\\b${encoding}\\b(?!\\s*;\\s*q=0(\\.0*)?\\s*(,|$))`, 'i').test(accepted)
  for (const [encoding, body] of page.encoded ?? []) if (takes(encoding)) return { encoding, body }
  const { body } = page
  if (page.encoded || body.length <= worthCompressing || !takes('gzip')) return { encoding: '', body }
  page.compressed ??= compress(body)
  return { encoding: 'gzip', body: await page.compressed }
}

function cacheControl({ immutable, stored }: Page): string {
  if (stored === false) return 'no-store'
  return immutable ? 'public, max-age=31536000, immutable' : 'no-cache'
}

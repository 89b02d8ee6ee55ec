import type { LookupAddress } from 'node:dns'
import { type IncomingMessage, request as http } from 'node:http'
import { request as https } from 'node:https'
import type { LookupFunction } from 'node:net'
import type { Destinations } from './destinations.ts'
import { resolve as resolveName } from './resolve.ts'

/** A request, as `fetch` takes it. */
export interface FetchInit {
  method?: string
  headers?: Record<string, string>
  body?: string | URLSearchParams | undefined
  signal?: AbortSignal | undefined
}

export interface FetchLimits {
  /** Milliseconds for all of it: the name, the connection, TLS, the answer's head, and its body. */
  within: number
  /** The most bytes of an answer's body: a larger one, and one that ends early, is an error. Not set: none is read. */
  mostBody?: number
}

/** A `fetch` without redirects, decompression and cookies. Rejects like it, with an error that has a `code` or a `name`. */
export type GuardedFetch = (url: string | URL, init?: FetchInit) => Promise<Response>

/** Bytes and milliseconds of a body that is not read, before the connection is cut. */
const skipped = { most: 64 * 1024, within: 1000 }

/**
 * Makes a `fetch` for addresses that others name: only to destinations that are allowed, which is judged at each
 * connection, and with bounds for the answer. It answers once the connection is closed: an open one takes up a place.
 */
export function guardedFetch(destinations: Destinations, { within, mostBody }: FetchLimits): GuardedFetch {
  return async (url, { signal, ...request } = {}) => {
    const { href, protocol } = new URL(url)
    // A name is judged when it is resolved, for each connection: so it cannot lead elsewhere after the check.
    if (destinations.faultOf(href) !== undefined) throw failure('NOT_ALLOWED')
    const over = AbortSignal.any([...(signal ? [signal] : []), AbortSignal.timeout(within)])
    try {
      const answer = await send(href, request, guarded(destinations, protocol === 'https:', over), over)
      const closed = new Promise((resolve) => answer.on('error', () => {}).once('close', resolve))
      const body = mostBody === undefined ? await skip(answer) : await read(answer, mostBody)
      await closed
      return toResponse(answer, body)
    } catch (error) {
      throw over.aborted ? over.reason : error
    }
  }
}

function send(
  url: string,
  { method = 'GET', headers = {}, body }: Omit<FetchInit, 'signal'>,
  lookup: LookupFunction,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const bytes = body === undefined ? undefined : Buffer.from(String(body))
  const length = bytes && { 'content-length': bytes.length }
  return new Promise((resolve, reject) => {
    const request = url.startsWith('https:') ? https : http
    // A new connection: its address is the one that was judged.
    const sent = request(url, { method, headers: { ...headers, ...length }, agent: false, lookup, signal }, resolve)
    sent.on('error', reject)
    sent.end(bytes)
  })
}

function guarded(destinations: Destinations, tls: boolean, over: AbortSignal): LookupFunction {
  return (hostname, options, callback) => {
    const answer = (addresses: LookupAddress[]) => {
      // One forbidden address is enough: which address is used cannot be controlled.
      if (addresses.some(({ address }) => !destinations.allows(address, tls))) callback(failure('NOT_ALLOWED'), '')
      else if (options.all) callback(null, addresses)
      else callback(null, addresses[0]!.address, addresses[0]!.family)
    }
    resolveName(hostname, over).then(answer, (error: Error) => callback(error, ''))
  }
}

async function read(answer: IncomingMessage, most: number): Promise<Buffer> {
  const pieces: Buffer[] = []
  let bytes = 0
  for await (const piece of answer as AsyncIterable<Buffer>) {
    bytes += piece.length
    if (bytes > most) throw failure('BODY_TOO_LARGE')
    pieces.push(piece)
  }
  return Buffer.concat(pieces)
}

// The head has come, whatever the body does.
async function skip(answer: IncomingMessage): Promise<null> {
  const timer = setTimeout(() => answer.destroy(), skipped.within)
  let bytes = 0
  try {
    for await (const piece of answer as AsyncIterable<Buffer>) if ((bytes += piece.length) > skipped.most) break
  } catch {
    // It was cut.
  }
  clearTimeout(timer)
  return null
}

const withoutBody = [204, 205, 304]

function toResponse({ statusCode: status = 0, rawHeaders }: IncomingMessage, body: Buffer | null): Response {
  // `Response` takes no other.
  if (status < 200 || status > 599) throw failure('HPE_INVALID_STATUS')
  const headers = new Headers()
  for (let at = 0; at < rawHeaders.length; at += 2) headers.append(rawHeaders[at]!, rawHeaders[at + 1]!)
  return new Response(withoutBody.includes(status) || !body ? null : new Uint8Array(body), { status, headers })
}

function failure(code: string): Error {
  return Object.assign(new Error(`The request failed: ${code}`), { code })
}

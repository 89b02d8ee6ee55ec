import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Http2ServerRequest } from 'node:http2'
import { type Header, readHeaders, requestIdOf } from './headers.ts'
import type { Incoming } from './admission.ts'

/** One request over HTTP/1.1, or over HTTP/2 in its shape, and its answer. */
export interface Exchange extends Incoming {
  request: IncomingMessage
  response: ServerResponse
  requestId: string
  header: Header
  /** The path without the query string, percent-encoded as the client sent it. */
  path: string
  /** The text after the question mark. */
  query: string
  /** Headers of every answer to this request. */
  headers: Record<string, string>
}

/** Opens the exchange of a request. Every answer to it carries the request id. */
export function openExchange(request: IncomingMessage, response: ServerResponse): Exchange {
  const requestId = requestIdOf(request.headers['x-request-id'] as string | undefined)
  const url = request.url!.startsWith('/') ? request.url! : relative(request.url!)
  const at = url.indexOf('?')
  const [path, query] = at < 0 ? [url, ''] : [url.slice(0, at), url.slice(at + 1)]
  const { rawHeaders: raw } = request
  const { stream } = request as Partial<Pick<Http2ServerRequest, 'stream'>>
  return {
    request,
    response,
    requestId,
    header: readHeaders(request.headers, raw),
    raw,
    // Over HTTP/2 it is a header.
    addressLength: stream ? 0 : request.url!.length,
    connection: stream?.session ?? request.socket,
    ending: response,
    hold: undefined,
    path,
    query,
    headers: { 'x-request-id': requestId },
  }
}

// A client that takes the gateway for a proxy sends the whole address instead of the path. A parser of addresses would
// change the path: what stands in front of the gateway may have judged it as it came.
function relative(url: string): string {
  const [, rest] = /^https?:\/\/[^/?#]+(.*)$/is.exec(url) ?? []
  if (rest === undefined) return url
  return rest.startsWith('/') ? rest : `/${rest}`
}

/** Headers that let a browser read an answer, and do nothing else with it. */
export const protective = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
}

/**
 * Answers with a whole body. An answer over HTTP/1.1 that leaves before the body of its request is whole ends the
 * connection: some clients (HttpClient of Java) would send their next request in place of the rest. The rest is still
 * read, within the limits of a body: a connection that is closed with unread bytes is reset, and a reset can overtake
 * the answer.
 */
export function send(exchange: Exchange, status: number, own: object, body: string | Uint8Array): void {
  const { request, response } = exchange
  if (!isHalfway(request)) return write(exchange, status, own, body)
  // A body that came together with its head is read in this tick of the event loop.
  setImmediate(() => {
    if (isHalfway(request) && !response.headersSent) endAfter(request, response)
    write(exchange, status, own, body)
  })
}

function write({ request, response, hold, headers }: Exchange, status: number, own: object, body: string | Uint8Array) {
  if (response.headersSent || response.destroyed) return
  const length = Buffer.byteLength(body)
  hold?.add(length)
  response.writeHead(status, { ...headers, ...own, 'content-length': length })
  response.end(request.method === 'HEAD' ? undefined : body)
}

function isHalfway({ httpVersionMajor, complete, headers }: IncomingMessage): boolean {
  if (httpVersionMajor >= 2 || complete) return false
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

function endAfter(request: IncomingMessage, response: ServerResponse) {
  response.setHeader('connection', 'close')
  const { socket } = request
  const destroySoon = socket.destroySoon.bind(socket)
  socket.destroySoon = () => {
    if (request.complete) return destroySoon()
    socket.end()
    request.once('close', destroySoon)
  }
}

/** Sends the head of a stream at once. Its messages may be long in coming. */
export function sendHead({ response, headers }: Exchange, own: object) {
  if (response.headersSent || response.destroyed) return
  response.writeHead(200, { ...headers, ...own })
  response.flushHeaders()
}

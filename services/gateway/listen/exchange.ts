import type { IncomingMessage, ServerResponse } from 'node:http'
import { type Header, readHeaders } from './headers.ts'
import { requestIdOf } from './request-id.ts'
import type { Hold } from '../rate-limits/under-way.ts'

/** One request over HTTP/1.1, or over HTTP/2 in its shape, and its answer. */
export interface Exchange {
  request: IncomingMessage
  response: ServerResponse
  requestId: string
  header: Header
  /** Counts the bytes of it that are in memory. Undefined until it is let in. */
  hold: Hold | undefined
  /** The path without the query string, percent-encoded as the client sent it. */
  path: string
  /** The text after the question mark. */
  query: string
  /** Headers of every answer to this request. */
  headers: Record<string, string>
}

/** Opens the exchange of a request. Every answer to it carries `headers`, and the request id. */
export function openExchange(
  request: IncomingMessage,
  response: ServerResponse,
  headers: Record<string, string>,
): Exchange {
  const requestId = requestIdOf(request.headers['x-request-id'] as string | undefined)
  const url = request.url!.startsWith('/') ? request.url! : relative(request.url!)
  const at = url.indexOf('?')
  const [path, query] = at < 0 ? [url, ''] : [url.slice(0, at), url.slice(at + 1)]
  return {
    request,
    response,
    requestId,
    header: readHeaders(request.headers, request.rawHeaders),
    hold: undefined,
    path,
    query,
    headers: { 'x-request-id': requestId, ...headers },
  }
}

// A client that takes the gateway for a proxy sends the whole address instead of the path.
function relative(url: string): string {
  const parsed = URL.parse(url)
  return parsed ? parsed.pathname + parsed.search : url
}

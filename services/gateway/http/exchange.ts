import type { IncomingMessage, ServerResponse } from 'node:http'
import { type Header, readHeaders } from '../arrival/header-reader.ts'
import { requestIdOf } from '../arrival/request-id.ts'
import type { Hold } from '../limits/under-way.ts'

/** One HTTP/1.1 request with its answer under way. */
export interface Exchange {
  request: IncomingMessage
  response: ServerResponse
  requestId: string
  header: Header
  /** Counts what is in memory of it, once it is let in. */
  hold: Hold | undefined
  /** Path without the query string, percent-encoded as it came. */
  path: string
  /** What follows the question mark. */
  query: string
  /** Headers that every answer to this request carries. */
  headers: Record<string, string>
}

/** Starts to answer a request. `headers` are those that every answer to it carries, besides the request id. */
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

// A proxy's client sends the whole address.
function relative(url: string): string {
  const parsed = URL.parse(url)
  return parsed ? parsed.pathname + parsed.search : url
}

import type { Method } from '#lib/rpc/methods'
import type { Exchange } from './answers.ts'
import type { Arrival, Encoding } from './calls.ts'

type Header = Arrival['header']

/** A call that arrived over HTTP/1.1. */
export function arrive(
  { request, response, requestId, path }: Exchange,
  method: Method,
  encoding: Encoding,
  timeout: (header: Header) => number | undefined,
): Arrival {
  const header: Header = (name) => {
    const value = request.headers[name]
    return Array.isArray(value) ? value.join(', ') : value
  }
  const gone = new AbortController()
  response.once('close', () => {
    if (!response.writableEnded) gone.abort()
  })
  return {
    method,
    encoding,
    requestId,
    verb: request.method ?? '',
    path,
    header,
    timeout: () => timeout(header),
    peerAddress: request.socket.remoteAddress ?? '',
    signal: gone.signal,
  }
}

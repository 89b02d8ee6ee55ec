import type { Http2ServerRequest } from 'node:http2'
import type { Method } from '#lib/rpc/methods'
import { admit } from '../listen/admission.ts'
import { type Allowance, allow } from '../listen/body.ts'
import type { Header } from '../listen/headers.ts'
import type { Arrival, Encoding } from '../call/arrived-call.ts'
import type { Gateway } from '../call/gateway.ts'
import { costOfRead } from '../rate-limits/strangers.ts'
import type { Kind } from '../rate-limits/under-way.ts'
import type { Exchange } from '../listen/exchange.ts'

/** The arrival of a call over HTTP/1.1, or over HTTP/2 in its shape. */
export function arrive(
  gateway: Gateway,
  exchange: Exchange,
  method: Method,
  encoding: Encoding,
  timeout: (header: Header) => number | undefined,
): Arrival {
  const { request, response, requestId, header, path } = exchange
  const gone = new AbortController()
  const clientAddress = addressOf(gateway, exchange)
  response.on('close', () => {
    if (!response.writableEnded) gone.abort()
  })
  if (method.streams) onEnd(exchange, () => gone.abort())
  return {
    method,
    encoding,
    requestId,
    verb: request.method ?? '',
    path,
    header,
    admit: () => letIn(gateway, exchange, method.access.rule === 'public' ? 'public' : 'call', clientAddress),
    timeout: () => timeout(header),
    clientAddress,
    signal: gone.signal,
  }
}

/** The allowance of a call that was let in. */
export function allowanceOf({ config }: Gateway, { hold }: Exchange, method: Method): Allowance {
  if (!hold) throw new Error('the body of a request is read before the request is let in')
  return allow(config, method, hold)
}

/** Lets a request in that arrived over HTTP/1.1, or over HTTP/2 in its shape. Errors of `admit`. */
export function letIn(gateway: Gateway, exchange: Exchange, kind: Kind, address = addressOf(gateway, exchange)): void {
  const { request, response } = exchange
  const { stream } = request as Partial<Pick<Http2ServerRequest, 'stream'>>
  const origin = { connection: stream?.session ?? request.socket, address, raw: request.rawHeaders }
  exchange.hold = admit(gateway, kind, origin, (end) => response.on('close', end))
}

/** Counts a request that is no call of an operation against its address. RESOURCE_EXHAUSTED RATE_LIMITED. */
export function countStranger(gateway: Gateway, exchange: Exchange): void {
  gateway.rates.strangers.admit(addressOf(gateway, exchange), costOfRead)
}

function addressOf({ clientAddresses }: Gateway, { request, header }: Exchange): string {
  return clientAddresses({ header, peerAddress: request.socket.remoteAddress ?? '' })
}

// A client that closes its half of a connection may still wait for an answer. Calls have a deadline, so they go on. A
// stream has none, and would write to no client: it ends.
function onEnd({ request, response }: Exchange, ended: () => void) {
  if ('stream' in request) return
  const { socket } = request
  if (socket.readableEnded) return ended()
  socket.once('end', ended)
  response.once('close', () => socket.off('end', ended))
}

import type { Method } from '#lib/rpc/methods'
import type { Arrival, Encoding } from '../call/arrived-call.ts'
import type { Gateway } from '../call/gateway.ts'
import { admit } from '../listen/admission.ts'
import type { Exchange } from '../listen/exchange.ts'
import type { Hold } from '../rate-limits/under-way.ts'
import { costOfRead } from '../rate-limits/address-rates.ts'

/** A call over HTTP/1.1, or over HTTP/2 in its shape, as it arrives. */
export function arrive(
  gateway: Gateway,
  exchange: Exchange,
  method: Method,
  encoding: Encoding,
  timeout: Arrival['timeout'],
): Arrival {
  const { request, response, requestId, header, path } = exchange
  const gone = new AbortController()
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
    incoming: exchange,
    timeout,
    clientAddress: addressOf(gateway, exchange),
    signal: gone.signal,
  }
}

/** Admits a request that is no call of an operation. Errors of `admit`. */
export function admitOther(gateway: Gateway, exchange: Exchange): Hold {
  return admit(gateway, 'public', exchange, addressOf(gateway, exchange))
}

/** Counts such a request against its address. RESOURCE_EXHAUSTED RATE_LIMITED. */
export function countOther(gateway: Gateway, exchange: Exchange): void {
  gateway.rates.byAddress.admit(addressOf(gateway, exchange), costOfRead)
}

export function addressOf({ clientAddresses }: Gateway, { request, header }: Exchange): string {
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

import type { Credentials } from './authenticate.ts'
import type { Arrival, Gateway } from './calls.ts'

/** What proves who calls. */
export function credentialsOf({ header, requestId }: Arrival, deadline: number, signal: AbortSignal): Credentials {
  return {
    authorization: header('authorization'),
    organization: header('x-service-orgid'),
    requestId,
    deadline,
    signal,
  }
}

/** What a service is told of a call, whoever calls. */
export function callOf({ config }: Gateway, arrival: Arrival) {
  return {
    requestId: arrival.requestId,
    clientAddress: clientAddress(arrival, config.TRUSTED_PROXIES),
    traceparent: readTraceparent(arrival.header('traceparent')),
  }
}

// With n proxies in front, the n-th entry from the right is what the outermost of them saw; those before it anybody can write.
function clientAddress({ header, peerAddress }: Arrival, proxies: number): string {
  const forwarded = proxies === 0 ? undefined : header('x-forwarded-for')
  if (forwarded === undefined) return plainAddress(peerAddress)
  const seen = forwarded.split(',').map((address) => address.trim())
  return plainAddress(seen.at(-Math.min(proxies, seen.length))!.slice(0, 64))
}

function plainAddress(address: string): string {
  return address.startsWith('::ffff:') ? address.slice(7) : address
}

function readTraceparent(text: string | undefined): string {
  return text !== undefined && /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/.test(text) ? text : ''
}

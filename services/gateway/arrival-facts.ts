import { isIPv6 } from 'node:net'
import type { Credentials } from './authenticate.ts'
import type { Arrival, Gateway } from './calls.ts'

/** What proves who calls. */
export function credentialsOf(arrival: Arrival, deadline: number, signal: AbortSignal): Credentials {
  const { header, requestId, verb, path } = arrival
  return {
    authorization: header('authorization'),
    request: arrival,
    proof: header('dpop'),
    verb,
    path,
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
/** The address that a call is counted by. */
export function clientAddress(
  { header, peerAddress }: Pick<Arrival, 'header' | 'peerAddress'>,
  proxies: number,
): string {
  const forwarded = proxies === 0 ? undefined : header('x-forwarded-for')
  if (forwarded === undefined) return plainAddress(peerAddress)
  const seen = forwarded.split(',').map((address) => address.trim())
  return plainAddress(seen.at(-Math.min(proxies, seen.length))!.slice(0, 64))
}

// Whoever has one address of IPv6 has the whole /64, and could come from another one each time.
/** An address as those are counted that share it. */
export function plainAddress(address: string): string {
  const mapped = /^::ffff:([\d.]+)$/i.exec(address)?.[1]
  if (mapped !== undefined) return mapped
  if (!isIPv6(address)) return address
  const [head = '', tail] = address.replace(/%.*/, '').split('::')
  const [before, after] = [head, tail ?? ''].map((part) => part.split(':').filter(Boolean)) as [string[], string[]]
  // A tail in dotted form takes two groups; it never reaches the first four.
  const missing = 8 - before.length - after.length - (address.includes('.') ? 1 : 0)
  const groups = [...before, ...Array<string>(tail === undefined ? 0 : missing).fill('0'), ...after]
  return `${groups
    .slice(0, 4)
    .map((group) => parseInt(group, 16).toString(16))
    .join(':')}::/64`
}

function readTraceparent(text: string | undefined): string {
  return text !== undefined && /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/.test(text) ? text : ''
}

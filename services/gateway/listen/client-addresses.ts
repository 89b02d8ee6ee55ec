import { isIP, isIPv6 } from 'node:net'
import type { Log } from '#lib/log'
import type { Header } from './headers.ts'

/** Gives the address of a request's client: an IPv4 address, or the /64 of an IPv6 address. */
export type ClientAddresses = (from: { header: Header; peerAddress: string }) => string

/**
 * With n proxies in front, the outermost of them wrote the n-th entry from the right of X-Forwarded-For. Any client can
 * write the entries before it. Without the header, or where that entry is no address, the peer of the connection is the
 * client.
 */
export function createClientAddresses(proxies: number, log: Log): ClientAddresses {
  const watch = watchProxies(proxies, log)
  return ({ header, peerAddress }) => {
    const forwarded = header('x-forwarded-for')
    watch(peerAddress, forwarded !== undefined)
    const seen = forwarded === undefined || proxies === 0 ? undefined : readEntry(forwarded, proxies)
    return networkOf(seen ?? peerAddress)
  }
}

// Takes the first entry where there are fewer than proxies. A client may write a header of any length, but ten proxies
// write less than 1024 characters.
function readEntry(forwarded: string, proxies: number): string | undefined {
  const entries = forwarded
    .slice(-1024)
    .split(',')
    .map((entry) => entry.trim())
    .filter(Boolean)
  const entry = entries.at(-Math.min(proxies, entries.length)) ?? ''
  const [, bracketed, plain] = /^(?:\[(.*)\](?::\d+)?|([\d.]+):\d+)$/.exec(entry) ?? []
  const address = bracketed ?? plain ?? entry
  return isIP(address) === 0 ? undefined : address
}

/**
 * Gives an IPv4 address as it is, and of an IPv6 address its /64. A client that has one address of a /64 has all of
 * them, and could come from another one each time.
 */
export function networkOf(address: string): string {
  if (!address.includes(':')) return address
  // A socket for both versions writes IPv4 addresses like this.
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(address)?.[1]
  if (mapped !== undefined || !isIPv6(address)) return mapped ?? address
  const groups = groupsOf(address)
  const isMapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff
  if (isMapped) return [groups[6]! >> 8, groups[6]! & 255, groups[7]! >> 8, groups[7]! & 255].join('.')
  return `${groups
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(':')}::/64`
}

// The eight groups of an IPv6 address. The text must be one.
function groupsOf(address: string): number[] {
  const plain = address.replace(/%.*/, '').replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_, ...bytes) => {
    const [a, b, c, d] = bytes.map(Number) as [number, number, number, number]
    return `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`
  })
  const [head = '', tail] = plain.split('::')
  const [before, after] = [head, tail ?? ''].map((part) => part.split(':').filter(Boolean)) as [string[], string[]]
  const missing = tail === undefined ? 0 : 8 - before.length - after.length
  return [...before, ...Array<string>(missing).fill('0'), ...after].map((group) => parseInt(group, 16))
}

/** So many calls in a row must look wrong before the warning. */
const row = 100
/** Proxies are few. More peers than that are clients that send the header themselves. */
const mostProxies = 4

/**
 * Looks at the peer of each call, and whether the call carries X-Forwarded-For. Warns once where calls contradict
 * `proxies`, the setting TRUSTED_PROXIES.
 */
export function watchProxies(proxies: number, log: Log): (peer: string, isForwarded: boolean) => void {
  const peers = new Set<string>()
  let [count, warned] = [0, false]

  return (peer, isForwarded) => {
    if (warned) return
    const isExpected = isForwarded === proxies > 0
    if (!isExpected && proxies === 0) peers.add(peer)
    if (isExpected || peers.size > mostProxies) {
      peers.clear()
      count = 0
    } else if (++count === row) {
      warned = true
      log.warn(proxies === 0 ? unknownProxy : missingProxy)
    }
  }
}

const unknownProxy =
  'every call comes from the same few peers and carries X-Forwarded-For: ' +
  'if they are your proxies, set TRUSTED_PROXIES to how many a call passes, or all clients count as one address'
const missingProxy =
  'TRUSTED_PROXIES is set and no call carries X-Forwarded-For: ' +
  'set it to 0 where no proxy is in front, or clients can name any address as theirs'

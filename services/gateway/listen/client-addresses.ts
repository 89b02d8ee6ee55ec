import { isIP } from 'node:net'
import type { Log } from '#lib/log'
import type { Header } from './headers.ts'
import { networkOf } from './network-of.ts'
import { watchProxies } from './watch-proxies.ts'

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

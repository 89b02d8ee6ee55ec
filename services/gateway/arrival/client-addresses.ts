import { isIP } from 'node:net'
import type { Log } from '#lib/log'
import type { Header } from './header-reader.ts'
import { networkOf } from './network-of.ts'
import { watchProxies } from './watch-proxies.ts'

/** Where a call came from: an IPv4 address or the /64 of an IPv6 address. */
export type ClientAddresses = (from: { header: Header; peerAddress: string }) => string

/**
 * With n proxies in front, the n-th entry from the right of X-Forwarded-For is what the outermost of them saw; those before it
 * anybody can write. Without the header, or where that entry is no address: the other end of the connection.
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

// Of fewer entries than proxies the first one. Ten proxies write no more than is looked at; a client may write what it likes.
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

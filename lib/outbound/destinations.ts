import { BlockList, isIP, isIPv6 } from 'node:net'
import { described, type Setting } from '../config/read-config.ts'

/** Decides which addresses that others name Roster may call. */
export interface Destinations {
  /** Returns the fault of an address, as far as it shows without asking a name server. Undefined: none. */
  faultOf(url: string): string | undefined
  /** Whether Roster may connect to this IP address. Without TLS, only if the operator named it. */
  allows(ip: string, tls: boolean): boolean
}

/** `WEBHOOK_ALLOW_PRIVATE` and `IDP_ALLOW_PRIVATE`: IP addresses and networks such as `10.1.0.0/16`, separated by commas. */
export const destinations: Setting<Destinations> = {
  accepts: 'IP addresses and networks, separated by commas',
  default: createDestinations(new BlockList()),
  read(text) {
    const named = new BlockList()
    for (const entry of text.split(',').map((part) => part.trim())) if (entry !== '') add(named, entry)
    return createDestinations(named)
  },
}

/** The setting of each service that takes or calls addresses of webhooks or applications. */
export const privateDestinations = described(
  '[Private addresses](webhooks.md#allowed-destinations) that Roster may call: of webhooks, also without TLS, and of applications for logouts',
  destinations,
)

// IANA's registries of special addresses. Of IPv4, everything else is public; of IPv6, only 2000::/3 without these.
// BlockList treats an IPv4 address within an IPv6 one (::ffff:0:0/96) as that IPv4 address.
const special = [
  '0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24',
  '192.31.196.0/24 192.52.193.0/24 192.88.99.0/24 192.168.0.0/16 192.175.48.0/24 198.18.0.0/15 198.51.100.0/24',
  '203.0.113.0/24 224.0.0.0/3',
  '2001::/23 2001:db8::/32 2002::/16 2620:4f:8000::/48 3fff::/20',
]
  .flatMap((line) => line.split(' '))
  .reduce(add, new BlockList())
const globalUnicast = add(new BlockList(), '2000::/3')

function createDestinations(named: BlockList): Destinations {
  function allows(ip: string, tls: boolean): boolean {
    const family = isIPv6(ip) ? 'ipv6' : 'ipv4'
    if (named.check(ip, family)) return true
    return tls && !special.check(ip, family) && (family === 'ipv4' || globalUnicast.check(ip, family))
  }

  return {
    allows,
    faultOf(text) {
      if (!URL.canParse(text) || !/^https?:\/\/[^\s\\]+$/i.test(text)) return 'must be an absolute https URL'
      const { protocol, username, password, hostname, hash } = new URL(text)
      if (username !== '' || password !== '') return 'must not name a user'
      if (hash !== '') return 'must not have a fragment'
      const tls = protocol === 'https:'
      if (!tls && named.rules.length === 0) return 'must be an absolute https URL'
      const host = hostOf(hostname)
      // Spelling does not matter: the URL standard makes 2130706433, 0x7f.1 and 127.0.0.1 the same.
      if (isIP(host) !== 0 && !allows(host, tls)) return 'is at an address that Roster may not call'
      const isLocal = /(^|\.)localhost\.?$/.test(host)
      if (isLocal && !allows('127.0.0.1', tls) && !allows('::1', tls))
        return 'is at an address that Roster may not call'
      return undefined
    },
  }
}

// An IPv6 address without its brackets.
function hostOf(hostname: string): string {
  return hostname.replace(/^\[(.*)\]$/, '$1')
}

function add(list: BlockList, entry: string): BlockList {
  const [address = '', length] = entry.split('/')
  const family = isIPv6(address) ? 'ipv6' : 'ipv4'
  const most = family === 'ipv6' ? 128 : 32
  const prefix = length === undefined ? most : Number(length)
  if (isIP(address) === 0 || !/^\d+$/.test(length ?? '0') || prefix > most)
    throw new Error('is not a list of IP addresses and networks')
  list.addSubnet(address, prefix, family)
  return list
}

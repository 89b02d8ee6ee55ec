import type { Log } from '#lib/log'

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

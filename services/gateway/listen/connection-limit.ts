import type { Socket } from 'node:net'
import { limitsHit } from '#lib/limits-hit'
import type { Log } from '#lib/log'
import { networkOf } from './client-addresses.ts'

/**
 * Gives the function that counts a connection of its address, and says whether that is one too many. The refusal is
 * silent, as Node's is beyond `maxConnections`: an attacker that opens connections wants just the work of an answer to
 * each.
 */
export function limitConnections(limit: number, log: Log): (socket: Socket) => boolean {
  const counts = new Map<string, number>()
  let warned = -Infinity
  return (socket) => {
    const address = networkOf(socket.remoteAddress ?? '')
    const count = (counts.get(address) ?? 0) + 1
    if (count > limit) {
      limitsHit.add(1, 'connections')
      if (performance.now() > warned + 60_000) {
        warned = performance.now()
        log.warn({ limit }, 'refused connections of an address that has too many')
      }
      return true
    }
    counts.set(address, count)
    socket.once('close', () => {
      const left = counts.get(address)! - 1
      if (left > 0) counts.set(address, left)
      else counts.delete(address)
    })
    return false
  }
}

import { setTimeout as sleep } from 'node:timers/promises'

/** How far the events of a service are published, and how often they were published anew. */
export interface Place {
  transactionId: string
  position: string
  generation: number
  /** It is at the goal, or past it. */
  isThere: boolean
}

/** Milliseconds. */
export interface Patience {
  lookEvery: number
  /** A service that does nothing for so long does not run. */
  silence: number
  /** A service may also tell of tiny steps for ever. */
  all: number
}

/**
 * Waits until a service has published all anew up to the goal. False where it gets no nearer for too long. The service
 * tells its place itself, so only a place that it never told before is progress: not one that goes back and forth.
 */
export async function isSent(
  look: () => Promise<Place>,
  goal: Pick<Place, 'generation'>,
  { lookEvery, silence, all }: Patience,
): Promise<boolean> {
  let furthest: Place | undefined
  const begun = Date.now()
  for (let since = begun; Date.now() - since < silence && Date.now() - begun < all; await sleep(lookEvery)) {
    const now = await look()
    if (now.generation <= goal.generation) continue
    if (now.isThere) return true
    if (furthest && !isAfter(now, furthest)) continue
    furthest = now
    since = Date.now()
  }
  return false
}

function isAfter(one: Place, other: Place): boolean {
  const [left, right] = [one, other].map(({ transactionId }) => BigInt(transactionId))
  return left === right ? BigInt(one.position) > BigInt(other.position) : left! > right!
}

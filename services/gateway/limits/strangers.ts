import { burstSeconds, createBucket, wait, wear } from './bucket.ts'
import { rateLimited } from './rate-limited.ts'
import { createRecent } from './recent.ts'

/** Calls that prove nobody: of public methods, and with a token that is none. Each is its address's. */
export interface Strangers {
  /** Counts a call, as so much of one. RESOURCE_EXHAUSTED RATE_LIMITED, and it was not counted. */
  admit(address: string, cost: number): void
  /** Lets pass where a call would; counts none. */
  check(address: string): void
  /** Counts one that was let pass. */
  count(address: string): void
}

/** Takes `rate` calls a second of an address, ten seconds' worth at once; 0: any number. The machine's own addresses may always. */
export function createStrangers(rate: number, clock: () => number): Strangers {
  const addresses = createRecent(createBucket, burstSeconds * 1000)

  function bucketOf(address: string) {
    if (rate === 0 || isOwn(address)) return undefined
    const now = clock()
    const bucket = addresses(address, now)
    wear(bucket, rate, now)
    return bucket
  }

  function bucketWithRoom(address: string, cost: number) {
    const bucket = bucketOf(address)
    const seconds = bucket ? wait(bucket, rate, cost) : 0
    if (seconds > 0) throw rateLimited('address', seconds)
    return bucket
  }

  return {
    admit(address, cost) {
      const bucket = bucketWithRoom(address, cost)
      if (bucket) bucket.used += cost
    },
    check: (address) => void bucketWithRoom(address, 1),
    count(address) {
      const bucket = bucketOf(address)
      if (bucket) bucket.used++
    },
  }
}

// Who calls from there runs the machine, or came by a proxy that nobody was told of, and then is anybody.
function isOwn(address: string): boolean {
  return address.startsWith('127.') || address === '0:0:0:0::/64'
}

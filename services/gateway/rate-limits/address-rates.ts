import { burstSeconds, createBucket, createRecent, wait, wear } from '#lib/token-bucket'
import { rateLimited } from './rate-limited.ts'

/** What a read costs, and whatever reads nothing, such as a path that does not exist. A call costs 1. */
export const costOfRead = 0.1

/** The rate limit of each address, for calls without a proved caller: of public methods, or with a false token. */
export interface AddressRates {
  /** Counts a call at `cost`, where 1 is a whole call. RESOURCE_EXHAUSTED RATE_LIMITED counts nothing. */
  admit(address: string, cost: number): void
  /** Checks that a call would pass, and counts none. RESOURCE_EXHAUSTED RATE_LIMITED. */
  check(address: string): void
  /** Counts a call that has passed. */
  count(address: string): void
}

/**
 * Takes `rate` calls a second of an address, and `burst` seconds' worth at once. A rate of 0 is no limit. The machine's
 * own addresses have none.
 */
export function createAddressRates(rate: number, clock: () => number, burst = burstSeconds): AddressRates {
  const addresses = createRecent(createBucket, burst * 1000)

  function bucketOf(address: string) {
    if (rate === 0 || isOwn(address)) return undefined
    const now = clock()
    const bucket = addresses(address, now)
    wear(bucket, rate, now, burst)
    return bucket
  }

  function bucketWithRoom(address: string, cost: number) {
    const bucket = bucketOf(address)
    const seconds = bucket ? wait(bucket, rate, cost, burst) : 0
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

// A client on this machine runs it, or came by a proxy that TRUSTED_PROXIES does not count. All clients share that
// proxy's address, so a limit on it would let one of them shut out the others.
function isOwn(address: string): boolean {
  return address.startsWith('127.') || address === '0:0:0:0::/64'
}

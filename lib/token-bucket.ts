/** A token bucket: the part of a budget that was taken, as far as it has not worn off yet. */
export interface Bucket {
  used: number
  /** When it last wore off: milliseconds of a clock that never goes back. */
  at: number
}

/** A budget of so many seconds may be taken at once. An idle bucket is empty after as many. */
export const burstSeconds = 10

export function createBucket(): Bucket {
  return { used: 0, at: 0 }
}

/** Lets the bucket wear off since the last time, at `rate` a second. */
export function wear(bucket: Bucket, rate: number, now: number, burst = burstSeconds): void {
  // A caller whose rate was changed does not pay for use under the old rate.
  bucket.used = Math.min(Math.max(0, bucket.used - ((now - bucket.at) * rate) / 1000), rate * burst)
  bucket.at = now
}

/** Seconds until `cost` fits; 0 or less where it fits now. */
export function wait({ used }: Bucket, rate: number, cost = 1, burst = burstSeconds): number {
  return (used + cost) / rate - burst
}

/**
 * Gives values by key, and makes a value when it is first asked for. A value stays at least `maxAge` milliseconds after
 * it was last asked for, unless more than `capacity` others are asked for meanwhile. `now` is in milliseconds and never
 * goes back.
 */
export function createRecent<Value>(make: () => Value, maxAge: number, capacity = 50_000) {
  let young = new Map<string, Value>()
  let old = new Map<string, Value>()
  let renewed = -Infinity

  return (key: string, now: number): Value => {
    if (now - renewed >= maxAge || young.size >= capacity) {
      old = young
      young = new Map()
      renewed = now
    }
    let value = young.get(key)
    if (value === undefined) young.set(key, (value = old.get(key) ?? make()))
    return value
  }
}

/** What was taken of a budget and has not worn off yet. */
export interface Bucket {
  used: number
  /** Milliseconds, of a clock that never goes back. */
  at: number
}

/** Seconds for which a budget may be taken at once; an idle bucket is empty after so many. */
export const burstSeconds = 10

export function createBucket(): Bucket {
  return { used: 0, at: 0 }
}

/** Lets wear off what did since the last time, at so many a second. */
export function wear(bucket: Bucket, rate: number, now: number): void {
  // Whose rate is another one today need not pay for the time before.
  bucket.used = Math.min(Math.max(0, bucket.used - ((now - bucket.at) * rate) / 1000), rate * burstSeconds)
  bucket.at = now
}

/** Seconds until so much more fits; 0 or less: it does now. */
export function wait({ used }: Bucket, rate: number, cost = 1): number {
  return (used + cost) / rate - burstSeconds
}

import type { ChainPlace } from '#lib/eventstore/audit/page'

/** Whether a place comes before another one. */
export function isBefore(one: ChainPlace, other: ChainPlace): boolean {
  const [left, right] = [BigInt(one.transactionId), BigInt(other.transactionId)]
  return left < right || (left === right && BigInt(one.position) < BigInt(other.position))
}

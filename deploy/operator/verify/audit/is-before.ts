import type { ChainPlace } from '#lib/eventstore/audit/page'

/** Whether a place comes before another one. A place that cannot be comes before none, and none before it. */
export function isBefore(one: ChainPlace, other: ChainPlace): boolean {
  if (!isPlace(one) || !isPlace(other)) return false
  const [left, right] = [BigInt(one.transactionId), BigInt(other.transactionId)]
  return left < right || (left === right && BigInt(one.position) < BigInt(other.position))
}

/** Whether PostgreSQL can read it. */
export function isPlace(place: Partial<ChainPlace> | undefined): place is ChainPlace {
  return isWithin(place?.transactionId, 2n ** 64n) && isWithin(place?.position, 2n ** 63n)
}

function isWithin(value: unknown, limit: bigint): boolean {
  return typeof value === 'string' && /^\d{1,20}$/.test(value) && BigInt(value) < limit
}

import { type DescField, ScalarType } from '@bufbuild/protobuf'

/**
 * The value of one field as the other field holds it. A number beyond the other's range becomes the nearest that it
 * has: rules then refuse it.
 */
export function convert(from: DescField, to: DescField, value: unknown, opposite: boolean): unknown {
  if (opposite) return !(value as boolean)
  if (to.scalar === undefined || from.scalar === to.scalar || typeof value === 'string') return value
  if (typeof value !== 'number' && typeof value !== 'bigint') return value
  const range = ranges.get(to.scalar)
  if (range) return Number(value) > range[1] ? range[1] : Math.max(Number(value), range[0])
  return wide.has(to.scalar) ? BigInt(value) : value
}

const ranges = new Map<ScalarType, [least: number, most: number]>([
  [ScalarType.INT32, [-(2 ** 31), 2 ** 31 - 1]],
  [ScalarType.UINT32, [0, 2 ** 32 - 1]],
])
const wide = new Set([ScalarType.INT64, ScalarType.UINT64])

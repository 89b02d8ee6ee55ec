import type { DescMessage } from '@bufbuild/protobuf'
import { countValues } from '#lib/rpc/wire'
import { tooManyValues } from '../listen/body.ts'
import { fewValues, isMany, type ValueLimit } from '../rate-limits/value-limit.ts'

/**
 * Refuses a message in bytes that has too many values. Its service finds every other fault of it.
 * RESOURCE_EXHAUSTED REQUEST_TOO_LARGE; the errors of the limit.
 */
export function limitValues(desc: DescMessage, bytes: Uint8Array, { most, count }: ValueLimit = fewValues): Uint8Array {
  const values = countValues(desc, bytes, most)
  if (isMany(values)) count(Math.min(values, most))
  if (values > most) throw tooManyValues(most)
  return bytes
}

import type { DescMessage } from '@bufbuild/protobuf'
import { RosterError } from '#lib/errors'
import { countValues } from '#lib/rpc/wire'

/** How many values the message of a call may have. Reading takes time by the value, much more than by the byte. */
export interface ValueLimit {
  most: number
  /** Gets the number of values of a message with more than `fewValues` allows, before it is read. May throw. */
  count(values: number): void
}

export const fewValues: ValueLimit = { most: 2_000, count: () => {} }

/** Reports the number of values to the limit where they are many. Errors of the limit. */
export function countMany(values: number, { most, count }: ValueLimit): void {
  if (values > fewValues.most) count(Math.min(values, most))
}

/**
 * Refuses a message in bytes that has too many values. Its service finds every other fault of it.
 * RESOURCE_EXHAUSTED REQUEST_TOO_LARGE; the errors of the limit.
 */
export function limitValues(desc: DescMessage, bytes: Uint8Array, limit = fewValues): Uint8Array {
  const values = countValues(desc, bytes, limit.most)
  countMany(values, limit)
  if (values > limit.most) throw tooManyValues(limit.most)
  return bytes
}

/** The error of a message with more than `most` values. */
export function tooManyValues(most: number): RosterError {
  const text = `The request has more than ${most.toLocaleString('en')} values.`
  return new RosterError('RESOURCE_EXHAUSTED', 'REQUEST_TOO_LARGE', text)
}

import type { DescMessage } from '@bufbuild/protobuf'
import { hasMoreValues } from '#lib/rpc/wire'
import { mostValues, tooManyValues } from '../arrival/body.ts'

/**
 * Refuses a message in bytes that has too many values. Its service finds every other fault of it.
 * RESOURCE_EXHAUSTED REQUEST_TOO_LARGE.
 */
export function limitValues(desc: DescMessage, bytes: Uint8Array): Uint8Array {
  if (hasMoreValues(desc, bytes, mostValues)) throw tooManyValues()
  return bytes
}

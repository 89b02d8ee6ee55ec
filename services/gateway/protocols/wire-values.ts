import type { DescMessage } from '@bufbuild/protobuf'
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire'
import { mostValues, tooManyValues } from '../body.ts'

/**
 * Refuses a message in bytes that has too many values, those of its messages and unknown ones included; what else may be wrong with
 * it is for its reader to say. RESOURCE_EXHAUSTED REQUEST_TOO_LARGE.
 */
export function limitValues(desc: DescMessage, bytes: Uint8Array): Uint8Array {
  // A value has two bytes at least.
  if (bytes.length > 2 * mostValues && countValues(desc, bytes, 0) > mostValues) throw tooManyValues()
  return bytes
}

function countValues(desc: DescMessage, bytes: Uint8Array, before: number): number {
  let count = before
  const reader = new BinaryReader(bytes)
  try {
    while (reader.pos < reader.len && count <= mostValues) {
      const [number, wireType] = reader.tag()
      count++
      const field =
        wireType === WireType.LengthDelimited ? desc.fields.find((candidate) => candidate.number === number) : undefined
      if (field?.message) count = countValues(field.message, reader.bytes(), count)
      // The values of a group are counted one by one.
      else if (wireType !== WireType.StartGroup && wireType !== WireType.EndGroup) reader.skip(wireType)
    }
  } catch {
    return count
  }
  return count
}

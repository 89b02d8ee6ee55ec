import type { DescField } from '@bufbuild/protobuf'
import { BinaryReader } from '@bufbuild/protobuf/wire'
import { aliasOf } from '#lib/rpc/aliases'
import type { ValueLimit } from '../rate-limits/value-limit.ts'
import type { IdentifiedCall } from './identify.ts'

/** The count of a call that may have many items. */
export interface BulkCount {
  values: ValueLimit
  countItems(request: Uint8Array): void
}

const mostValues = 20_000
// As many values as an item usually has.
const valuesPerItem = 20

/**
 * Counts each item of a bulk as one call against the rates of the caller. Many values count before they are read, so
 * that no caller makes the gateway read more than it may. RESOURCE_EXHAUSTED RATE_LIMITED.
 */
export function countBulk(
  { gateway, method, forService }: IdentifiedCall,
  items: DescField,
  clientAddress: string,
): BulkCount {
  // `identify` counted the call.
  let counted = 1
  const raise = (calls: number) => {
    if (calls > counted) gateway.rates.admit(forService().caller, method, clientAddress, calls - counted)
    counted = Math.max(counted, calls)
  }
  const names = items.parent.fields.filter((field) => field === items || aliasOf(field)?.[0] === items)
  const numbers = new Set(names.map(({ number }) => number))
  return {
    values: { most: mostValues, count: (values) => raise(Math.ceil(values / valuesPerItem)) },
    countItems: (request) => raise(lengthOf(numbers, request)),
  }
}

function lengthOf(numbers: ReadonlySet<number>, request: Uint8Array): number {
  const reader = new BinaryReader(request)
  let length = 0
  try {
    while (reader.pos < reader.len) {
      const [field, wireType] = reader.tag()
      if (numbers.has(field)) length++
      reader.skip(wireType, field)
    }
  } catch {
    // The service refuses a malformed message.
  }
  return length
}

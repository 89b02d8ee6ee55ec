import { type DescField, type DescMessage, ScalarType } from '@bufbuild/protobuf'
import { WireType } from '@bufbuild/protobuf/wire'

/** The deepest nesting of messages. */
const maxDepth = 100

/**
 * Whether the bytes follow the message type exactly. Each field has the wire type of its declaration. Each varint is as
 * short as possible. Each length stays within its surroundings. There is no group and no field number 0. Unknown fields
 * are allowed.
 * Decoders tolerate such faults, each in its own way, so two of them would read two different messages. The decoders
 * check texts and values.
 */
export function isStrictWire(desc: DescMessage, bytes: Uint8Array): boolean {
  return scanMessage({ bytes, at: 0, values: 0, most: Infinity }, expectedOf(desc), bytes.length, 0)
}

/**
 * The number of values of a message, including those of inner messages, packed lists and unknown fields. The count ends
 * after `most`, with one more. In a malformed message, only the values before the fault count, because no decoder reads
 * further.
 */
export function countValues(desc: DescMessage, bytes: Uint8Array, most: number): number {
  const scanner = { bytes, at: 0, values: 0, most }
  scanMessage(scanner, expectedOf(desc), bytes.length, 0)
  return scanner.values
}

interface Scanner {
  bytes: Uint8Array
  at: number
  values: number
  most: number
}

/** The allowed encodings of a field: plain or packed, and its message type. */
interface Expected {
  wireType: WireType
  /** For a list of numbers: the wire type of each number within one packed field. */
  packed?: WireType
  message?: () => Fields
}

type Fields = ReadonlyMap<number, Expected>

const known = new WeakMap<DescMessage, Fields>()

function expectedOf(desc: DescMessage): Fields {
  let fields = known.get(desc)
  if (!fields) known.set(desc, (fields = new Map(desc.fields.map((field) => [field.number, expect(field)]))))
  return fields
}

function expect(field: DescField): Expected {
  // An entry is a message: its key is field 1, its value field 2.
  if (field.fieldKind === 'map') return { wireType: WireType.LengthDelimited, message: () => entryOf(field) }
  const { message } = field
  if (message) return { wireType: WireType.LengthDelimited, message: () => expectedOf(message) }
  const wireType = field.enum ? WireType.Varint : wireTypeOf(field.scalar)
  const isPackable = field.fieldKind === 'list' && wireType !== WireType.LengthDelimited
  return { wireType, ...(isPackable && { packed: wireType }) }
}

const entries = new WeakMap<DescField, Fields>()

function entryOf(field: DescField & { fieldKind: 'map' }): Fields {
  let fields = entries.get(field)
  if (!fields) {
    const { message } = field
    const value: Expected = message
      ? { wireType: WireType.LengthDelimited, message: () => expectedOf(message) }
      : { wireType: field.enum ? WireType.Varint : wireTypeOf(field.scalar) }
    fields = new Map([
      [1, { wireType: wireTypeOf(field.mapKey) }],
      [2, value],
    ])
    entries.set(field, fields)
  }
  return fields
}

function wireTypeOf(scalar: ScalarType): WireType {
  switch (scalar) {
    case ScalarType.STRING:
    case ScalarType.BYTES:
      return WireType.LengthDelimited
    case ScalarType.DOUBLE:
    case ScalarType.FIXED64:
    case ScalarType.SFIXED64:
      return WireType.Bit64
    case ScalarType.FLOAT:
    case ScalarType.FIXED32:
    case ScalarType.SFIXED32:
      return WireType.Bit32
    default:
      return WireType.Varint
  }
}

function scanMessage(scanner: Scanner, fields: Fields, end: number, depth: number): boolean {
  if (depth > maxDepth) return false
  while (scanner.at < end) {
    const tag = scanVarint(scanner, end)
    if (tag < 8 || tag > 0xffff_ffff || ++scanner.values > scanner.most) return false
    const wireType = tag % 8
    const field = fields.get(Math.floor(tag / 8))
    const isPacked = field?.packed !== undefined && wireType === WireType.LengthDelimited
    if (field && wireType !== field.wireType && !isPacked) return false
    if (wireType !== WireType.LengthDelimited) {
      if (!scanNumber(scanner, wireType, end)) return false
      continue
    }
    const length = scanVarint(scanner, end)
    const inner = scanner.at + length
    if (length < 0 || inner > end) return false
    if (field?.message) {
      if (!scanMessage(scanner, field.message(), inner, depth + 1)) return false
    } else if (isPacked) {
      while (scanner.at < inner)
        if (++scanner.values > scanner.most || !scanNumber(scanner, field.packed!, inner)) return false
    }
    scanner.at = inner
  }
  return true
}

function scanNumber(scanner: Scanner, wireType: WireType, end: number): boolean {
  if (wireType === WireType.Varint) return scanVarint(scanner, end) >= 0
  if (wireType === WireType.Bit64) scanner.at += 8
  else if (wireType === WireType.Bit32) scanner.at += 4
  else return false
  return scanner.at <= end
}

// Returns the value; beyond 53 bits, approximately. Returns -1 for a varint that is cut off, longer than necessary, or
// of more than 64 bits.
function scanVarint(scanner: Scanner, end: number): number {
  const { bytes } = scanner
  const start = scanner.at
  for (let value = 0, place = 1; scanner.at < end; place *= 128) {
    const byte = bytes[scanner.at++]!
    value += (byte & 0x7f) * place
    if (byte >= 0x80) continue
    const length = scanner.at - start
    return (byte === 0 && length > 1) || length > 10 || (length === 10 && byte > 1) ? -1 : value
  }
  return -1
}

import { create, type DescField, type DescMessage, type Message, ScalarType, toBinary } from '@bufbuild/protobuf'
import { reflect } from '@bufbuild/protobuf/reflect'
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire'
import { timestampFromMs } from '@bufbuild/protobuf/wkt'
import { aliasOf } from '#lib/rpc/aliases'
import { validate } from '#lib/rpc/validate'

/** Bytes that two decoders may read as two different messages, and a name for the trick. */
export interface Smuggled {
  name: string
  bytes: Uint8Array
}

/**
 * A valid request with every possible field set, by its first name. A message within itself is left out, and so are maps:
 * those of a Struct, which has no rule.
 */
export function validMessage(desc: DescMessage, around: DescMessage[] = []): Message {
  const message = create(desc)
  const open = [...around, desc]
  for (const field of desc.fields) {
    if (aliasOf(field) || field.fieldKind === 'map') continue
    if (field.oneof && reflect(desc, message).oneofCase(field.oneof)) continue
    if (field.message && open.includes(field.message)) continue
    const value = values(field, open).find((value) => isGood(desc, field, value))
    if (value !== undefined) set(desc, message, field, value)
  }
  return message
}

/**
 * A valid request in which, one after the other, each field comes once more with another value, in every way of the
 * wire format. `known`: messages within it that are left whole, as requests before had them; those of this one are added.
 */
export function* smuggle(
  desc: DescMessage,
  known = new Set<DescMessage>(),
  around: DescMessage[] = [],
): Generator<Smuggled> {
  const valid = validMessage(desc)
  const whole = toBinary(desc, valid)
  const open = [...around, desc]
  for (const field of desc.fields) {
    if (field.fieldKind === 'map' || (field.message && open.includes(field.message))) continue
    const rest = toBinary(desc, without(desc, valid, field))
    for (const { name, bytes } of [...smuggleValue(desc, field), ...smuggleParts(field, known, open)]) {
      yield { name: `${field.name} ${name}`, bytes: Buffer.concat([rest, bytes]) }
      yield { name: `${field.name} ${name}, first`, bytes: Buffer.concat([bytes, rest]) }
    }
  }
  yield { name: 'and field number 0', bytes: Buffer.concat([whole, Uint8Array.of(0x02, 0)]) }
  yield { name: 'and the end of a group', bytes: Buffer.concat([whole, Uint8Array.of(0x0c)]) }
  yield { name: 'and an unknown group', bytes: Buffer.concat([whole, tag(999, 3), tag(999, 4)]) }
  yield { name: 'and an unknown field', bytes: Buffer.concat([whole, tag(999, 2), Uint8Array.of(1, 0x0a)]) }
}

function* smuggleValue(desc: DescMessage, field: DescField): Generator<Smuggled> {
  const all = values(field)
  // Else it is a number that must stay 0.
  const good = all.find((value) => isGood(desc, field, value)) ?? 0
  // A decoder does not care what is wrong with it.
  const bad = all.filter((value) => value !== good && !isGood(desc, field, value)).slice(0, 2)
  for (const other of bad.length > 0 ? bad : all.filter((value) => value !== good).slice(0, 1)) {
    const open = Buffer.concat([tag(field.number, wireTypeOf(field)), payload(field, other)])
    for (let wireType = 0; wireType < 8; wireType++) {
      const hidden = Buffer.concat([tag(field.number, wireType), payload(field, good)])
      yield { name: `and then by wire type ${wireType}`, bytes: Buffer.concat([open, hidden]) }
      yield { name: `and before by wire type ${wireType}`, bytes: Buffer.concat([hidden, open]) }
    }
    const hidden = payload(field, good)
    const group = [tag(999, 3), tag(field.number, wireTypeOf(field)), hidden, tag(999, 4)]
    yield { name: 'and then in a group', bytes: Buffer.concat([open, ...group]) }
    yield {
      name: 'and then by a longer tag',
      bytes: Buffer.concat([open, longer(tag(field.number, wireTypeOf(field))), hidden]),
    }
    const far = new BinaryWriter().uint64((2n ** 32n + BigInt(field.number)) * 8n + BigInt(wireTypeOf(field))).finish()
    yield { name: 'and then by a tag of more than 32 bits', bytes: Buffer.concat([open, far, hidden]) }
  }
}

// Some decoders merge a message that comes in parts. Others keep only its last part.
function* smuggleParts(field: DescField, known: Set<DescMessage>, around: DescMessage[]): Generator<Smuggled> {
  const { message: desc } = field
  if (!desc || field.fieldKind === 'list') return
  const inner = (bytes: Uint8Array) => Buffer.concat([tag(field.number, 2), new BinaryWriter().bytes(bytes).finish()])
  const valid = validMessage(desc)
  const whole = toBinary(desc, valid)
  yield { name: 'whole, and then empty', bytes: Buffer.concat([inner(whole), inner(new Uint8Array())]) }
  yield { name: 'empty, and then whole', bytes: Buffer.concat([inner(new Uint8Array()), inner(whole)]) }
  yield {
    name: 'whose length is behind its end',
    bytes: Buffer.concat([tag(field.number, 2), Uint8Array.of(1), whole]),
  }
  for (const part of desc.fields) {
    if (part.fieldKind === 'map') continue
    const less = toBinary(desc, without(desc, valid, part))
    yield { name: `whole, and then without ${part.name}`, bytes: Buffer.concat([inner(whole), inner(less)]) }
    yield { name: `without ${part.name}, and then whole`, bytes: Buffer.concat([inner(less), inner(whole)]) }
  }
  if (known.has(desc)) return
  known.add(desc)
  for (const { name, bytes } of smuggle(desc, known, around)) yield { name: `/ ${name}`, bytes: inner(bytes) }
}

const texts = [
  'abc',
  'a@b.example',
  'https://a.example/',
  'ldaps://a.example',
  'a.example',
  'long enough, 1 A',
  'de',
  '3Ab',
  'ORG_OWNER',
  'IAM_OWNER_VIEWER',
  'another-account',
  'back',
  'rename',
  'remove',
  'check',
  'here',
  'PROJECT_OWNER',
  '',
  'a\r\nPUB b',
  'x'.repeat(3000),
  'users',
  'h'.repeat(43),
]

const metadata = Buffer.from('<EntityDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata"></EntityDescriptor>')

function values(field: DescField, around: DescMessage[] = []): unknown[] {
  if (field.message?.typeName === 'google.protobuf.Timestamp')
    return ['2090-01-01', '1970-01-01'].map((date) => timestampFromMs(Date.parse(date)))
  if (field.message) return [validMessage(field.message, around), create(field.message)]
  if (field.enum) return [...field.enum.values.map(({ number }) => number), 99]
  switch (field.scalar) {
    case ScalarType.STRING:
      return texts
    case ScalarType.BYTES:
      return [metadata, Buffer.alloc(32), Buffer.of(1)]
    case ScalarType.BOOL:
      return [true, false]
    case ScalarType.INT64:
    case ScalarType.UINT64:
      return [1n, 2n ** 60n]
    default:
      return [1, 2_000_000_000]
  }
}

function isGood(desc: DescMessage, field: DescField, value: unknown): boolean {
  const message = create(desc)
  set(desc, message, field, value)
  return !validate(desc, message).some((violation) => violation.field.split(/[.[]/)[0] === field.jsonName)
}

function set(desc: DescMessage, message: Message, field: DescField, value: unknown) {
  const reflected = reflect(desc, message)
  const own = (field.message ? reflect(field.message, value as Message) : value) as never
  if (field.fieldKind === 'list') reflected.get(field).add(own)
  else reflected.set(field, own)
}

function without(desc: DescMessage, message: Message, field: DescField): Message {
  const copy = structuredClone(message)
  reflect(desc, copy).clear(field)
  return copy
}

function payload(field: DescField, value: unknown): Uint8Array {
  const writer = new BinaryWriter()
  if (field.message) return writer.bytes(toBinary(field.message, value as Message)).finish()
  if (field.enum) return writer.int32(value as number).finish()
  switch (field.scalar) {
    case ScalarType.STRING:
      return writer.string(value as string).finish()
    case ScalarType.BYTES:
      return writer.bytes(value as Uint8Array).finish()
    case ScalarType.BOOL:
      return writer.bool(value as boolean).finish()
    case ScalarType.INT64:
    case ScalarType.UINT64:
      return writer.uint64(value as bigint).finish()
    case ScalarType.INT32:
    case ScalarType.UINT32:
      return writer.uint32(value as number).finish()
    default:
      throw new Error(`no request had a field such as ${field.name} so far`)
  }
}

function wireTypeOf(field: DescField): WireType {
  const isLong = field.message || field.scalar === ScalarType.STRING || field.scalar === ScalarType.BYTES
  return isLong ? WireType.LengthDelimited : WireType.Varint
}

function tag(number: number, wireType: number): Uint8Array {
  return new BinaryWriter().uint32(number * 8 + wireType).finish()
}

function longer(varint: Uint8Array): Uint8Array {
  return Uint8Array.of(...varint.subarray(0, -1), varint.at(-1)! | 0x80, 0)
}

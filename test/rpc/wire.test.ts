import { fromBinary } from '@bufbuild/protobuf'
import { FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt'
import { describe, expect, test } from 'vitest'
import type { RosterError } from '#lib/errors'
import { requestOf } from '../support/requests.ts'
import { parse } from '#lib/rpc/validate'
import { countValues, isStrictWire } from '#lib/rpc/wire'

const setEmail = requestOf('users.v1.UserService.SetEmail')
const bytes = (hex: string) => Buffer.from(hex.replaceAll(' ', ''), 'hex')
const ten = 'ff '.repeat(9)

describe('a request is refused as malformed for', () => {
  test.each([
    ['a wire type that does not fit: varint', '08 01'],
    ['a wire type that does not fit: 64 bits', '09 0102030405060708'],
    ['a wire type that does not fit: 32 bits', '0d 01020304'],
    ['a text where a number belongs', '2a 01 61'],
    ['a message as a number', '18 01'],
    ['a group in place of a field', '0b 0c'],
    ['an unknown group', 'a3 06 a4 06'],
    ['the end of a group', '0c'],
    ['wire type 6', '0e 01'],
    ['wire type 7 of an unknown field', 'a7 06 01'],
    ['field number 0', '02 00'],
    ['field number 0 as a number', '00 00'],
    ['a tag that is longer than it need be', '8a 00 01 61'],
    ['a tag of more than 32 bits', '8a 80 80 80 80 01 01 61'],
    ['a length that is longer than it need be', '0a 81 00 61'],
    ['a number that is longer than it need be', '28 81 00'],
    ['a number of more than 64 bits', `28 ${ten}02`],
    ['a number of eleven bytes', `28 ${ten}ff 01`],
    ['a number that does not end', '28 80'],
    ['a text that is cut off', '0a 05 61'],
    ['a length without bytes after it', '0a ff ff ff ff 0f'],
    ['a tag without a value', '0a'],
    ['an unknown field that is cut off', 'a1 06 01'],
    ['an inner message that is longer than the outer one', '1a 02 0a 05 61 62 63 64 65'],
    ['a fault in a part', '1a 02 08 01'],
    ['a text that is no UTF-8', '0a 02 c3 28'],
    ['half a surrogate pair', '0a 03 ed a0 80'],
    ['an inner text that is no UTF-8', '1a 03 0a 01 ff'],
  ])('%s', (_, hex) => {
    let refused: unknown
    try {
      parse(setEmail, bytes(hex))
    } catch (error) {
      refused = error
    }
    expect(refused).toMatchObject({ code: 3, reason: 'REQUEST_MALFORMED' } satisfies Partial<RosterError>)
  })
})

describe('a request is accepted with', () => {
  test.each([
    ['nothing in it', ''],
    ['every kind of unknown field', 'a0 06 01 a1 06 0102030405060708 a2 06 01 ff a5 06 01020304'],
    ['a field that comes twice: the last one counts', '0a 01 61 0a 01 62'],
    ['a number of 64 bits', `28 ${ten}01`],
    ['an empty part', '1a 00'],
  ])('%s', (_, hex) => expect(isStrictWire(setEmail, bytes(hex))).toBe(true))
})

test('a list of numbers may be packed or not, and its bytes must match exactly', () => {
  const isStrict = (hex: string) => isStrictWire(FileDescriptorProtoSchema, bytes(hex))
  expect(fromBinary(FileDescriptorProtoSchema, bytes('52 02 01 02 50 03')).publicDependency).toEqual([1, 2, 3])
  expect(isStrict('52 02 01 02 50 03')).toBe(true)
  expect(isStrict('52 02 01 80')).toBe(false)
  expect(isStrict('52 02 81 00')).toBe(false)
})

test('values count everywhere: packed, unknown, in inner messages, and before a fault', () => {
  const has = (hex: string, most: number) => countValues(FileDescriptorProtoSchema, bytes(hex), most) > most
  for (const hex of [
    '52 02 01 02',
    '0a 01 61 0a 01 62 0a 01 63',
    'a0 3f 01 a0 3f 01 a0 3f 01',
    '22 06 0a 01 61 0a 01 62',
  ])
    expect([has(hex, 2), has(hex, 3)]).toEqual([true, false])
  expect([has('0a 01 61 0a 01 62 00', 1), has('0a 01 61 0a 01 62 00', 2)]).toEqual([true, false])
})

test('messages cannot be nested without limit', () => {
  const nested = (depth: number) => {
    let inner = Buffer.alloc(0)
    // FileDescriptorProto.message_type, DescriptorProto.nested_type
    for (let at = depth; at > 0; at--) inner = Buffer.concat([Buffer.of(at === 1 ? 0x22 : 0x1a), length(inner), inner])
    return inner
  }
  expect(isStrictWire(FileDescriptorProtoSchema, nested(50))).toBe(true)
  expect(isStrictWire(FileDescriptorProtoSchema, nested(200))).toBe(false)
})

function length({ length: size }: Buffer): Buffer {
  return size < 128 ? Buffer.of(size) : Buffer.of((size & 0x7f) | 0x80, size >> 7)
}

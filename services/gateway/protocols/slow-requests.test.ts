import { toBinary } from '@bufbuild/protobuf'
import { expect, test } from 'vitest'
import { RosterError } from '#lib/errors'
import { method } from '#lib/rpc/methods'
import { statusToJson } from '#lib/status'
import { isStrictWire } from '#lib/rpc/wire'
import { toGrpcTrailers } from './grpc/errors.ts'
import { decodeText } from './grpc-web/read.ts'
import { readRequest } from './json/read.ts'
import { limitValues } from '../rate-limits/value-limit.ts'

const mebibyte = 1024 * 1024
const grant = method('roster.grants.v1.UserGrantService.AddUserGrant')
const human = method('roster.users.v1.UserService.AddHumanUser')
const users = method('roster.users.v1.UserService.SearchUsers')
const profile = method('roster.users.v1.UserService.UpdateMyProfile')

/** Joins items, up to `most` of them and up to 1 MiB. */
function list(item: (index: number) => string, most = Infinity): string {
  const items: string[] = []
  for (let length = 0; length < mebibyte - 100 && items.length < most; length += items.at(-1)!.length + 1)
    items.push(item(items.length))
  return items.join(',')
}

const few = 1_900
const long = 'x'.repeat(500)
const bodies: [string, typeof grant, string][] = [
  ['unknown members', profile, `{${list((n) => `"a${n}":1`)}}`],
  ['as many unknown members as are allowed', profile, `{${list((n) => `"a${n}":1`, few)}}`],
  ['as many long names as are allowed', profile, `{${list((n) => `"${long}${n}":1`, few)}}`],
  ['unknown members of a message', human, `{"profile":{${list((n) => `"a${n}":1`)}}}`],
  ['names in escapes', profile, `{${list((n) => `"${'\\u0061'.repeat(80)}${n}":1`, few)}}`],
  ['a name twice at the end', profile, `{${list((n) => `"a${n}":1`, few)},"a0":1}`],
  ['items of a wrong type', grant, `{"roleKeys":[${list(() => '1')}]}`],
  ['as many items of a wrong type as are allowed', grant, `{"roleKeys":[${list(() => '1', few)}]}`],
  ['one wrong item in the midst', grant, `{"roleKeys":[${list((n) => (n === 1_000 ? '1' : '"a"'), few)}]}`],
  ['a wrong item now and then', grant, `{"roleKeys":[${list((n) => (n % 40 ? `"${long}"` : '1'), few)}]}`],
  ['sound items', grant, `{"roleKeys":[${list(() => '"a"', few)}]}`],
  ['arrays in an array', grant, `{"roleKeys":[${list(() => '[]')}]}`],
  ['objects in an array', human, `{"profile":[${list(() => '{}')}]}`],
  ['deep nesting', grant, `{"roleKeys":${'['.repeat(mebibyte / 2 - 10)}${']'.repeat(mebibyte / 2 - 10)}}`],
  ['a text of escapes', profile, `{"firstName":"${'\\n'.repeat(mebibyte / 2 - 20)}","x":1}`],
  ['a text that does not end', profile, `{"firstName":"${'a'.repeat(mebibyte - 20)}`],
  ['a text of commas', profile, `{"firstName":"${','.repeat(mebibyte - 20)}"}`],
  ['a long number', profile, `{"gender":${'1'.repeat(mebibyte - 20)}}`],
  ['a long whole number', users, `{"limit":${'1'.repeat(mebibyte - 20)}}`],
  ['many long numbers', users, `{"limit":[${list(() => '1e300', few)}]}`],
  ['lines', profile, `{${'\n'.repeat(mebibyte - 20)}x`],
  ['no UTF-8', profile, `{"firstName":"${'é'.repeat(mebibyte / 2 - 20)}\xff`],
]

/** The least CPU time of some tries, in milliseconds: the machine may have other work. */
function cost(work: () => unknown): number {
  const tries = Array.from({ length: 10 }, () => {
    const before = process.cpuUsage()
    try {
      work()
    } catch (error) {
      if (!(error instanceof RosterError)) throw error
      JSON.stringify(statusToJson(error))
      toGrpcTrailers(error)
    }
    // Linux tells the two apart by ticks. Only their sum is exact.
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1000
  })
  return Math.min(...tries)
}

// The cost of any body of this size: one parse, and one look at each value.
const harmless = cost(() => JSON.parse(`{"a":"${'\\n'.repeat(mebibyte / 2 - 20)}"}`))

const show = (name: string, milliseconds: number) => {
  if (process.env['ROSTER_SHOW'])
    process.stdout.write(`${name}: ${milliseconds.toFixed(1)} ms of ${harmless.toFixed(1)}\n`)
}

test.each(bodies)(
  'a body of 1 MiB with %s costs no more than a few bodies of one text',
  (name, { desc, ...rest }, body) => {
    const bytes = Buffer.from(body, name === 'no UTF-8' ? 'latin1' : 'utf8')
    expect(bytes.length).toBeLessThanOrEqual(mebibyte + 200)
    const spent = cost(() => toBinary(desc.input, readRequest({ method: { desc, ...rest }, variables: [] }, '', bytes)))
    show(name, spent)
    expect(spent).toBeLessThan(20 + 10 * harmless)
  },
)

const messages: [string, typeof grant, string, number][] = [
  ['empty role keys', grant, '2200', mebibyte / 2],
  ['unknown fields', profile, 'f80f01', mebibyte / 3],
  ['unknown fields of a message', human, '', 0],
]

test.each(messages)(
  'a message of 1 MiB in bytes with %s is refused, and counted only as far as is needed',
  (name, { desc }, piece, times) => {
    const inner = Buffer.from('f80f01'.repeat(349_000), 'hex')
    const head = Buffer.from([0x1a, ...varint(inner.length)])
    const bytes = times ? Buffer.from(piece.repeat(Math.floor(times)), 'hex') : Buffer.concat([head, inner])
    expect(() => limitValues(desc.input, bytes)).toThrow(expect.objectContaining({ reason: 'REQUEST_TOO_LARGE' }))
    const spent = cost(() => limitValues(desc.input, bytes))
    show(name, spent)
    expect(spent).toBeLessThan(20 + 10 * harmless)
  },
)

test('a group is not counted: the service refuses it where it begins, and reads none of it', () => {
  const bytes = Buffer.from('0b0c'.repeat(mebibyte / 2), 'hex')
  expect(limitValues(profile.desc.input, bytes)).toBe(bytes)
  expect(isStrictWire(profile.desc.input, bytes)).toBe(false)
})

test('a message with just as many values as allowed is accepted', () => {
  const bytes = Buffer.from('220161'.repeat(2_000), 'hex')
  expect(limitValues(grant.desc.input, bytes)).toBe(bytes)
})

test('text of many pieces in base64 is refused quickly', () => {
  const spent = cost(() => decodeText('QQ=='.repeat(mebibyte / 4)))
  show('base64', spent)
  expect(spent).toBeLessThan(20 + 10 * harmless)
})

function varint(value: number): number[] {
  return value < 128 ? [value] : [(value & 127) | 128, ...varint(value >>> 7)]
}

import { expect, test } from 'vitest'
import { EventCursor } from '#gen/roster/feed/v1/feed'
import { readCursor, writeCursor } from './cursor.ts'

const cursor = { users: { transactionId: 900, position: 17 }, idp: { transactionId: 0, position: 0 } }

test('a cursor is read as it was written, and a URL can hold it', () => {
  expect(readCursor(writeCursor(cursor))).toEqual(cursor)
  expect(writeCursor(cursor)).toMatch(/^[\w-]+$/)
})

test('a cursor keeps an unknown service', () => {
  const newer = { ...cursor, later: { transactionId: 1, position: 2 } }
  expect(readCursor(writeCursor(newer))).toEqual(newer)
})

const places = (bytes: number[]) => Buffer.from(bytes).toString('base64url')
const withUnknownField = Buffer.concat([EventCursor.encode({ services: cursor }).finish(), Buffer.from([0x10, 1])])

test.each([
  ['no base64', '!!'],
  ['no protobuf', places([0xff, 0xff])],
  ['an unknown field', withUnknownField.toString('base64url')],
  ['a number that is none of ours', places([10, 17, 10, 1, 97, 18, 12, 8, ...Array<number>(9).fill(0xff), 1, 16])],
  ['padding', `${writeCursor(cursor)}=`],
])('%s is CURSOR_INVALID and names the field', (_, text) => {
  expect(() => readCursor(text)).toThrow(
    expect.objectContaining({
      code: 3,
      reason: 'CURSOR_INVALID',
      violations: [expect.objectContaining({ field: 'cursor' })],
    }),
  )
})

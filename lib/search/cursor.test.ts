import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { encryptionKey } from '../encryption/keys.ts'
import { type Asked, readCursor, writeCursor } from './cursor.ts'

const key = () => randomBytes(32).toString('base64')
const secret = key()
const keys = encryptionKey.read(secret)

const request = { name: 'al', descending: false, limit: 10, cursor: '', withTotal: false }
const asked: Asked = {
  method: 'SearchUsers',
  request,
  call: { caller: { userId: 'alice' }, organizationId: 'acme' },
}
const with_ = (change: object, changed: Partial<Asked> = {}): Asked => ({
  ...asked,
  request: { ...request, cursor, ...change },
  ...changed,
})
const cursor = writeCursor(keys, asked, ['Ä\n"', '7'])
const read = (other: Asked, ring = keys) => {
  try {
    return readCursor(ring, other)
  } catch (error) {
    return (error as { reason: string }).reason
  }
}

test('a cursor brings its place back, with any limit and total, and after a change of keys', () => {
  expect(read(with_({}))).toEqual(['Ä\n"', '7'])
  expect(read(with_({ limit: 1000, withTotal: true }))).toEqual(['Ä\n"', '7'])
  expect(read(with_({}), encryptionKey.read(`${key()},${secret}`))).toEqual(['Ä\n"', '7'])
  expect(read(asked)).toBeUndefined()
})

test('a cursor fits no other filter, order, caller, acting organization, method or key', () => {
  const call = (userId: string, organizationId: string) => ({ call: { caller: { userId }, organizationId } })
  const others = [
    with_({ name: 'bo' }),
    with_({ descending: true }),
    with_({}, call('bob', 'acme')),
    with_({}, call('alice', 'other')),
    with_({}, { method: 'SearchProjects' }),
  ]
  expect(others.map((other) => read(other))).toEqual(others.map(() => 'CURSOR_INVALID'))
  expect(read(with_({}), encryptionKey.read(key()))).toBe('CURSOR_INVALID')
})

test('a text that is no cursor, or a changed one, is refused', () => {
  const bytes = Buffer.from(cursor, 'base64url')
  const changed = [...bytes.keys()].map((at) => {
    const other = Buffer.from(bytes)
    other[at]! ^= 1
    return other.toString('base64url')
  })
  const behind = ['=', ' ', '\n', '!', 'A', '.x'].map((text) => cursor + text)
  const texts = ['x', '=', '\u{1F600}', ` ${cursor}`, ...behind, cursor.slice(0, -4), ...changed]
  expect(texts.map((text) => read(with_({ cursor: text })))).toEqual(texts.map(() => 'CURSOR_INVALID'))
})

test('a cursor shows nothing of the row that it stands at', () => {
  const bytes = Buffer.from(writeCursor(keys, asked, ['arthur@example.org']), 'base64url').toString('latin1')
  expect(bytes).not.toContain('arthur')
})

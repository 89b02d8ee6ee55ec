import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { RosterError } from '#lib/errors'
import { decodeText, encodeMessage, isGrpcWeb, readFrame } from './grpc-web.ts'

const frame = (flag: number, payload: number[], length = payload.length) =>
  Uint8Array.from([flag, 0, 0, length >> 8, length & 255, ...payload])

const limit = 1024 * 1024

test('the one message of a body is read', () => {
  expect([...readFrame(frame(0, [1, 2, 3]), limit).message]).toEqual([1, 2, 3])
  expect(readFrame(frame(0, []), limit).message.length).toBe(0)
})

test.each([
  ['no frame', []],
  ['half a head', [0, 0, 0]],
  ['a frame longer than the body', [...frame(0, [1, 2], 3)]],
  ['two messages', [...frame(0, [1]), ...frame(0, [2])]],
  ['something after the message', [...frame(0, [1]), 0]],
  ['a trailer frame alone', [...frame(0x80, [])]],
  ['a flag that does not exist', [...frame(2, [])]],
])('%s is refused', (_name, bytes) => {
  expect(() => readFrame(Uint8Array.from(bytes), limit)).toThrow(
    expect.objectContaining({ code: 3, reason: 'FRAME_MALFORMED' }),
  )
})

test('a compressed message is told from one that is not', () => {
  expect([readFrame(frame(1, []), limit).isCompressed, readFrame(frame(0, []), limit).isCompressed]).toEqual([
    true,
    false,
  ])
})

test('a frame that claims more than is allowed is too large, whatever follows', () => {
  const claim = Uint8Array.from([0, 0xff, 0xff, 0xff, 0xff])
  expect(() => readFrame(claim, limit)).toThrow(expect.objectContaining({ reason: 'REQUEST_TOO_LARGE' }))
})

test('base64 text of very many pieces is refused', () => {
  expect(() => decodeText('QQ=='.repeat(100_000))).toThrow(expect.objectContaining({ reason: 'FRAME_MALFORMED' }))
})

test('base64 text is decoded, also in several padded pieces', () => {
  const pieces = fc.array(fc.uint8Array({ minLength: 1 }), { minLength: 1 })
  fc.assert(
    fc.property(pieces, (parts) => {
      const text = parts.map((part) => Buffer.from(part).toString('base64')).join('')
      expect(Buffer.from(decodeText(text)).equals(Buffer.concat(parts))).toBe(true)
    }),
  )
})

test.each(['A', 'AAAAA', 'AA=A', '====', 'AAA', 'AA AA===', 'AA\n==', 'AA-_', 'AAAA=', '='])(
  '%j is no base64',
  (text) => {
    expect(() => decodeText(text)).toThrow(expect.objectContaining({ reason: 'FRAME_MALFORMED' }))
  },
)

test('whatever the bytes are, they are read or refused', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 20 }), (bytes) => {
      for (const work of [() => readFrame(bytes, limit), () => decodeText(Buffer.from(bytes).toString('latin1'))])
        try {
          work()
        } catch (error) {
          expect(error).toBeInstanceOf(RosterError)
        }
    }),
  )
})

test('a status message survives as a header, whatever it says', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (message) => {
      const encoded = encodeMessage(message)
      expect(encoded).toMatch(/^[\x20-\x7e]*$/)
      expect(decodeURIComponent(encoded)).toBe(message.toWellFormed())
    }),
  )
})

test('only the four gRPC-web content types are gRPC-web', () => {
  const types = ['', '+proto', '-text', '-text+proto', '+proto; charset=utf-8'].map(
    (end) => `application/grpc-web${end}`,
  )
  expect(types.every(isGrpcWeb)).toBe(true)
  for (const type of [undefined, 'application/grpc', 'application/grpc-web+json', 'application/json'])
    expect(isGrpcWeb(type)).toBe(false)
})

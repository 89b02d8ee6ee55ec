import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { RosterError } from '#lib/errors'
import { decodeText } from './read.ts'
import { isGrpcWeb } from './serve.ts'

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

test('text of any bytes is decoded or refused', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 20 }), (bytes) => {
      try {
        decodeText(Buffer.from(bytes).toString('latin1'))
      } catch (error) {
        expect(error).toBeInstanceOf(RosterError)
      }
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

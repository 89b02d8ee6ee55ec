import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { RosterError } from '#lib/errors'
import { readFrame } from './frames.ts'

const frame = (flag: number, payload: number[], length = payload.length) =>
  Uint8Array.from([flag, 0, 0, length >> 8, length & 255, ...payload])

const limit = 1024 * 1024

test('the one message of a body is read', () => {
  expect([...readFrame(frame(0, [1, 2, 3]), limit).message]).toEqual([1, 2, 3])
  expect(readFrame(frame(0, []), limit).message.length).toBe(0)
})

test.each([
  ['half a head', [0, 0, 0]],
  ['a frame longer than the body', [...frame(0, [1, 2], 3)]],
  ['a trailer frame alone', [...frame(0x80, [])]],
  ['a flag that does not exist', [...frame(2, [])]],
])('%s is refused', (_name, bytes) => {
  expect(() => readFrame(Uint8Array.from(bytes), limit)).toThrow(
    expect.objectContaining({ code: 3, reason: 'FRAME_MALFORMED' }),
  )
})

test.each([
  ['no message', []],
  ['two messages', [...frame(0, [1]), ...frame(0, [2])]],
  ['something after the message', [...frame(0, [1]), 0]],
])('a body with %s is unimplemented', (_name, bytes) => {
  expect(() => readFrame(Uint8Array.from(bytes), limit)).toThrow(
    expect.objectContaining({ code: 12, reason: 'ONE_MESSAGE_EXPECTED' }),
  )
})

test('a compressed message is recognized', () => {
  expect([readFrame(frame(1, []), limit).isCompressed, readFrame(frame(0, []), limit).isCompressed]).toEqual([
    true,
    false,
  ])
})

test('a frame that claims more than is allowed is too large, whatever follows', () => {
  const claim = Uint8Array.from([0, 0xff, 0xff, 0xff, 0xff])
  expect(() => readFrame(claim, limit)).toThrow(expect.objectContaining({ reason: 'REQUEST_TOO_LARGE' }))
})

test('frames of any bytes are read or refused', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 20 }), (bytes) => {
      try {
        readFrame(bytes, limit)
      } catch (error) {
        expect(error).toBeInstanceOf(RosterError)
      }
    }),
  )
})

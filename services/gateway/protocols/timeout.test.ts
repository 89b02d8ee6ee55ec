import { expect, test } from 'vitest'
import { readConnectTimeout, readGrpcTimeout, readRequestTimeout } from './timeout.ts'

const sent = (text: string | undefined) => () => text

test('grpc-timeout is read in every unit', () => {
  const texts = ['2H', '3M', '4S', '5m', '6u', '7n', undefined]
  expect(texts.map((text) => readGrpcTimeout(sent(text)))).toEqual([
    7_200_000,
    180_000,
    4000,
    5,
    0.006,
    7e-6,
    undefined,
  ])
})

test('x-request-timeout is read as seconds', () => {
  expect(['5', '0.25', undefined].map((text) => readRequestTimeout(sent(text)))).toEqual([5000, 250, undefined])
})

test.each(['', '5', 'S', '-1S', '1.5S', '123456789S', '1s', ' 1S', '1S ', '1e3S'])(
  'grpc-timeout %j is refused',
  (text) => expect(() => readGrpcTimeout(sent(text))).toThrow(expect.objectContaining({ reason: 'TIMEOUT_MALFORMED' })),
)

test.each(['', 'x', '-1', '1e9', '1.', '.5', '5s', 'Infinity', '123456789'])(
  'x-request-timeout %j is refused',
  (text) =>
    expect(() => readRequestTimeout(sent(text))).toThrow(
      expect.objectContaining({ reason: 'TIMEOUT_MALFORMED', code: 3 }),
    ),
)

test('connect-timeout-ms is read as milliseconds', () => {
  expect(['0', '250', '9999999999', undefined].map((text) => readConnectTimeout(sent(text)))).toEqual([
    0,
    250,
    9_999_999_999,
    undefined,
  ])
})

test.each(['', '5s', '-1', '1.5', '12345678901', ' 1', '1e3'])('connect-timeout-ms %j is refused', (text) =>
  expect(() => readConnectTimeout(sent(text))).toThrow(
    expect.objectContaining({ reason: 'TIMEOUT_MALFORMED', code: 3 }),
  ),
)

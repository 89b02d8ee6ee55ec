import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { hasWholeNumbers } from './whole-numbers.ts'

/** As PostgreSQL writes a number of `jsonb`: without an exponent. */
function asStored(value: number): string {
  const [digits, exponent] = JSON.stringify(value).split('e')
  if (exponent === undefined) return digits!
  const [, sign, whole, fraction = ''] = /^(-?)(\d)\.?(\d*)$/.exec(digits!)!
  const places = Number(exponent)
  return places < 0
    ? `${sign}0.${'0'.repeat(-places - 1)}${whole}${fraction}`
    : `${sign}${whole}${fraction}${'0'.repeat(places - fraction.length)}`
}

test('every number that a service can write is whole', () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
      expect(hasWholeNumbers(`{"a": [1, ${asStored(value)}], "b": ${asStored(value)}}`)).toBe(true)
    }),
    { examples: [[0], [-0], [1e21], [1.5e-7], [5e-324], [Number.MAX_VALUE], [1e300], [0.1], [1234567890123456]] },
  )
})

test('a text that looks like a number is none', () => {
  expect(hasWholeNumbers('{"a": "b [ 0.10000000000000000000001", "9007199254740993": " 9007199254740993"}')).toBe(true)
})

test.each([
  `0.${'0'.repeat(400)}7`,
  '9007199254740993',
  '-9007199254740993',
  '0.10000000000000000000001',
  '1.0',
  `1${'0'.repeat(400)}`,
])('%s is not whole, wherever it stands', (number) => {
  for (const text of [number, `[${number}]`, `[0, ${number}]`, `{"a": ${number}}`, `{"a": {"b": 1, "c": [${number}]}}`])
    expect(hasWholeNumbers(text), text).toBe(false)
})

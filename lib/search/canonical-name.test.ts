import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { canonicalName } from './canonical-name.ts'

test.each([
  ['ＡＬＩＣＥ', 'alice'],
  ['Zoë', 'zoe\u0308'],
  ['ﬁnn', 'FINN'],
  ['№1', 'no1'],
  ['K', 'k'],
  ['Å', 'å'],
  ['J\u030c', '\u01f0'],
  ['T\u0308', '\u1e97'],
])('%s and %s are one name', (left, right) => {
  expect(canonicalName(left)).toBe(canonicalName(right))
})

test.each([
  ['alice', 'alicе'],
  ['a b', 'ab'],
  ['strasse', 'straße'],
])('%s and %s are two names', (left, right) => {
  expect(canonicalName(left)).not.toBe(canonicalName(right))
})

test('the canonical form of a canonical form is itself', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (name) => {
      expect(canonicalName(canonicalName(name))).toBe(canonicalName(name))
    }),
    { numRuns: 5000 },
  )
})

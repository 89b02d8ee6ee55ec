import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { canonicalName } from './canonical-name.ts'
import { canonicalPattern, type Comparison } from './canonical-pattern.ts'

const composed = Array.from({ length: 0x30000 }, (_, code) => String.fromCodePoint(code)).filter(
  (point) => point.isWellFormed() && point.normalize('NFD') !== point && point.normalize('NFKC') === point,
)
const part = fc.array(
  fc.oneof(
    fc.constantFrom(
      ...'aAeEoσςΣΟi \u0301\u0323\u0308\u0345\u0131İßẞﬁ\u1112\u1161\u11ab하한ｶﾞカ\u09c7\u09be.%\\[]^$*(|)',
    ),
    fc.constantFrom(...composed),
    fc.string({ unit: 'binary', maxLength: 1 }),
  ),
  { maxLength: 4 },
)
const fits = (text: string, { pattern, prefix }: { pattern: string; prefix: string }) =>
  new RegExp(pattern, 'su').test(text) && text.startsWith(prefix)

test.each([
  ['starts', (text: string, _before: string, after: string) => text + after],
  ['contains', (text: string, before: string, after: string) => before + text + after],
  ['ends', (text: string, before: string) => before + text],
] satisfies [Comparison, (text: string, before: string, after: string) => string][])(
  'the canonical form of every text that %s with another one fits its pattern',
  (comparison, join) => {
    fc.assert(
      fc.property(part, part, part, (middle, before, after) => {
        const whole = canonicalName(join(middle.join(''), before.join(''), after.join('')))
        expect(fits(whole, canonicalPattern(canonicalName(middle.join('')), comparison))).toBe(true)
      }),
      { numRuns: 20_000 },
    )
  },
)

test('it is as narrow as an index needs it', () => {
  expect(canonicalPattern('50%', 'starts')).toEqual({ pattern: '^50%', prefix: '50' })
  expect(canonicalPattern('zoe', 'starts')).toEqual({
    pattern: expect.stringMatching(/^\^zo\[e[è-ệ]+\]$/),
    prefix: 'zo',
  })
  expect(canonicalPattern('\u0301zoe.x', 'ends')).toEqual({ pattern: String.raw`zoe\.x$`, prefix: '' })
  expect(canonicalPattern('\u0301', 'contains')).toEqual({ pattern: '', prefix: '' })
})

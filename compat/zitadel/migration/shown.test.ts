import { expect, test } from 'vitest'
import { shown, visible } from './shown.ts'

test('a foreign text cannot leave its quotes, its line or its length', () => {
  expect(shown('a"b\n\\')).toBe('"a\\"b\\n\\\\"')
  expect(shown('x'.repeat(10_000))).toHaveLength(203)
})

test.each(['\u00a0', '\u2003', '\u3000', '\u2800', '\u3164', '\u115f', '\uffa0', '\u034f', '\ufe0f', '\u{1d159}'])(
  'a line shows the blank %j as its number',
  (text) => expect(visible(`a${text}b  c`)).toMatch(/^a\\u\{[0-9a-f]+\}b {2}c$/),
)

test.each(['\u001b[2J', '\u0007', '\u007f', '\u009b', '\u202e', '\u2066', '\u2028', '\u{e0041}', '\ud800'])(
  'a line shows %j as its number',
  (text) => expect(visible(`a${text}b 李 ü`)).toMatch(/^a\\u\{[0-9a-f]+\}(\[2J)?b 李 ü$/),
)

import { expect, test } from 'vitest'
import { checkUserName, meantName } from './user-name.ts'

test.each(['ada', 'Ada Lovelace', 'ada@acme.example', 'Zoë', '王小明', 'صدام ٣', 'a-b_c.d', "o'neil", 'ада', '🙂'])(
  'a user may be named %j',
  (name) => expect(checkUserName(name)).toEqual([]),
)

test.each([
  ['a blank at the end', 'ada '],
  ['a blank at the beginning', ' ada'],
  ['a blank that does not break', 'ada\u00a0'],
  ['an ideographic blank', '\u3000ada'],
  ['a tab', 'ada\t'],
  ['a line break', 'a\nda'],
  ['a line separator', 'ada\u2028'],
  ['a zero-width space', 'a\u200bda'],
  ['a zero-width joiner', 'ada\u200d'],
  ['a soft hyphen', 'a\u00adda'],
  ['a mark of the direction', '\u200eada'],
  ['an override of the direction', '\u202eada'],
  ['an isolate', '\u2066ada\u2069'],
  ['a word joiner', 'ada\u2060'],
  ['a byte order mark', '\ufeffada'],
  ['a grapheme joiner', 'a\u034fda'],
  ['a variation selector', 'ada\ufe0f'],
  ['a Hangul filler', 'ada\u3164'],
  ['a tag', 'ada\u{e0041}'],
])('a name with %s is refused, and typed it means the name without', (_, name) => {
  expect(checkUserName(name, 'x').map(({ field }) => field)).toContain('x')
  expect(meantName(name)).toBe('ada')
})

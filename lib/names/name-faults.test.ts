import { describe, expect, test } from 'vitest'
import { type NameKind, nameFaults, withoutUnseen } from './name-faults.ts'

const kinds: NameKind[] = ['identifier', 'thing', 'person']

describe.each(kinds)('%s', (kind) => {
  test.each([
    'ada', 'Ada Lovelace', 'ada@acme.example', 'Zoë', 'Zoe\u0308', '王小明', 'صدام ٣', 'a-b_c.d', "o'neil", 'ада', '🙂',
    'שרה', 'ประเทศ', '…', '',
  ])('may be %j', (name) => expect(nameFaults(kind, name)).toEqual([])) // prettier-ignore

  test.each([
    ['a line break', 'a\nda'],
    ['a tab', 'ada\t'],
    ['a line separator', 'ada\u2028'],
    ['a zero-width space', 'a\u200bda'],
    ['a soft hyphen', 'a\u00adda'],
    ['a mark of the direction', '\u200eada'],
    ['a mark of the direction of Arabic letters', 'ada\u061c'],
    ['an override of the direction', '\u202eada'],
    ['an embedding', '\u202aada\u202c'],
    ['an isolate', '\u2066ada\u2069'],
    ['a word joiner', 'ada\u2060'],
    ['a byte order mark', '\ufeffada'],
    ['a grapheme joiner', 'a\u034fda'],
    ['a variation selector', 'ada\ufe0f'],
    ['a selector of an ideograph', 'ada\u{e0100}'],
    ['a selector of Mongolian', 'ada\u180b'],
    ['a Hangul filler', 'ada\u3164'],
    ['another Hangul filler', 'ada\u115f'],
    ['a blank of Braille', 'ada\u2800'],
    ['a null notehead', 'ada\u{1d159}'],
    ['a tag', 'ada\u{e0041}'],
    ['a symbol for private use', 'ada\ue000'],
    ['a number without a meaning', 'ada\u{378}'],
    ['half a pair', 'ada\ud800'],
  ])('may not hold %s, and means the name without', (_, name) => {
    expect(nameFaults(kind, name)).toEqual([expect.stringMatching(/^must not hold .* such as U\+[\dA-F]{4,6}$/)])
    expect(withoutUnseen(kind, name)).toBe('ada')
  })

  test.each(['\u200b', '\u3164', '\u2800', '\u202e', ' ', '\u3000', '\u00a0 ', '\u0301', '\u200d\ufe0f'])(
    'may not be %j, which shows nothing',
    (name) => expect(nameFaults(kind, name)).not.toEqual([]),
  )
})

test('an identifier begins and ends with no blank, as others would look like it', () => {
  for (const name of ['ada ', ' ada', 'ada\u00a0', '\u3000ada']) {
    expect(nameFaults('identifier', name)).toEqual(['must not begin or end with a blank'])
    expect(nameFaults('thing', name)).toEqual([])
  }
})

test.each([
  ['Persian', 'نرم\u200cافزار'],
  ['Hindi', 'क्\u200dष'],
  ['Mongolian', 'ᠠ\u180bᠨ'],
  ['Japanese', '葛\u{e0100}城'],
  ['an emoji with a selector', 'Love \u2764\ufe0f'],
  ['an emoji of several', '👩\u200d👩\u200d👧'],
  ['a flag of tags', '🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}'],
])('names of things and people may be in %s, identifiers may not', (_, name) => {
  expect(nameFaults('thing', name)).toEqual([])
  expect(nameFaults('person', name)).toEqual([])
  expect(nameFaults('identifier', name)).toHaveLength(1)
})

test('a person keeps U+200C and U+200D in any script, a thing only where the script needs them', () => {
  for (const name of ['Ali\u200creza', 'Ada\u200d']) {
    expect(nameFaults('person', name)).toEqual([])
    expect(nameFaults('thing', name)).toHaveLength(1)
  }
  expect(nameFaults('thing', 'نرم\u200c\u200cافزار')).toHaveLength(1)
  expect(nameFaults('person', '\u200d')).toHaveLength(1)
})

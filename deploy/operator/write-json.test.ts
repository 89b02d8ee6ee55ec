import { expect, test } from 'vitest'
import { writeJson } from './write-json.ts'

test('what steers a terminal is escaped, in names too, and the value stays the same', () => {
  const value = { '\u009b2J': 'a\u001b[2J\u0085b\u2028c\u202ed\u200be\ufefff', kept: 'Zoë 😀 名' }
  const text = writeJson(value)
  expect(text).toBe(String.raw`{"\u009b2J":"a\u001b[2J\u0085b\u2028c\u202ed\u200be\ufefff","kept":"Zoë 😀 名"}`)
  expect(JSON.parse(text)).toEqual(value)
})

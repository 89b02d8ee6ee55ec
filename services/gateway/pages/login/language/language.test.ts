import { expect, test } from 'vitest'
import { chooseLanguage } from './language.ts'
import { type TextKey, texts } from '../texts/texts.ts'

test.each([
  ['', undefined, 'en'],
  ['', 'de-AT', 'de'],
  ['', 'fr, DE;q=0.5, en;q=0.4', 'de'],
  ['', 'en;q=0.4, de;q=0.5', 'de'],
  ['', 'de;q=0, en', 'en'],
  ['', 'de;q=x', 'en'],
  ['', ',;q=,-', 'en'],
  ['', 'constructor', 'en'],
  ['fr de en', 'en', 'de'],
  ['fr', 'de', 'de'],
])('of the wish %j and the header %j comes %s', (wanted, header, tag) => {
  expect(chooseLanguage(wanted, header).tag).toBe(tag)
})

test('a text says the same of the same things in each language', () => {
  const places = (text: string) => (text.match(/\{\w+\}/g) ?? []).toSorted()
  const { en, ...others } = texts
  for (const other of Object.values(others))
    for (const [key, text] of Object.entries(en!)) expect(places(other[key as TextKey])).toEqual(places(text))
})

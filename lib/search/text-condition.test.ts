import { expect, test } from 'vitest'
import { afterPrefix, escapeLike } from './text-condition.ts'

test('every character of a text stands for itself in a pattern', () => {
  expect(escapeLike(String.raw`50%_\x`)).toBe(String.raw`50\%\_\\x`)
})

test('the end of a prefix is the next text by code points', () => {
  expect(afterPrefix('al')).toBe('am')
  expect(afterPrefix('a\u{1F600}')).toBe('a\u{1F601}')
  expect(afterPrefix('a\u{D7FF}')).toBe('a\u{E000}')
  expect(afterPrefix('a\u{10FFFF}\u{10FFFF}')).toBe('b')
  expect(afterPrefix('\u{10FFFF}')).toBeUndefined()
  expect(afterPrefix('')).toBeUndefined()
})

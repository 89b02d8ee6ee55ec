import { expect, test } from 'vitest'
import { meantName } from './meant-name.ts'

test('a typed name means the one without blanks at its ends, and without what cannot be seen', () => {
  for (const typed of ['ada ', '\u3000ada', 'ada\t', '\u00a0a\u200bda', '\u202eada\u200d'])
    expect(meantName(typed)).toBe('ada')
  expect(meantName(' \u200eAli\u200creza', 'person')).toBe('Ali\u200creza')
})

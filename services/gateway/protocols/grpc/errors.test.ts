import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { encodeMessage } from './errors.ts'

test('any status message survives as a header', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (message) => {
      const encoded = encodeMessage(message)
      expect(encoded).toMatch(/^[\x20-\x7e]*$/)
      expect(decodeURIComponent(encoded)).toBe(message.toWellFormed())
    }),
  )
})

import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { encodeMessage } from './grpc-status.ts'

test('a status message survives as a header, whatever it says', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (message) => {
      const encoded = encodeMessage(message)
      expect(encoded).toMatch(/^[\x20-\x7e]*$/)
      expect(decodeURIComponent(encoded)).toBe(message.toWellFormed())
    }),
  )
})

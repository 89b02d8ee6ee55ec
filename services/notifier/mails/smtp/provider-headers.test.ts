import { expect, test } from 'vitest'
import { providerHeaders } from './provider-headers.ts'

test('a mail by Postmark alone has a header of its own', () => {
  expect(providerHeaders('smtp.postmarkapp.com', 'f81d')).toEqual({ 'X-PM-Metadata-mail-id': 'f81d' })
  expect(providerHeaders('postmarkapp.com.example.org', 'f81d')).toEqual({})
})

import { expect, test } from 'vitest'
import { nameKey } from './idp-name.ts'

test('names are one for all the instance, whatever their case and width', () => {
  expect(nameKey('ＡＣＭＥ')).toMatchObject({ scope: '', key: 'acme' })
  expect(nameKey('ACME').taken).toMatchObject({ code: 6, reason: 'IDP_NAME_TAKEN' })
})

import { expect, test } from 'vitest'
import { nameKey } from './idp-name.ts'

test('two names are the same in the instance if they differ only in case or width', () => {
  expect(nameKey('ＡＣＭＥ')).toMatchObject({ scope: '', key: 'acme' })
  expect(nameKey('ACME').taken).toMatchObject({ code: 6, reason: 'IDP_NAME_TAKEN' })
})

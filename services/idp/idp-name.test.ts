import { expect, test } from 'vitest'
import { instance } from '#lib/instance'
import { nameKey } from './idp-name.ts'

test('two names of an owner are the same if they differ only in case or width', () => {
  expect(nameKey(instance.id, 'ＡＣＭＥ')).toMatchObject({ scope: '', key: 'acme' })
  expect(nameKey('org', 'ACME')).toMatchObject({ scope: 'org', key: 'acme' })
  expect(nameKey('org', 'ACME').taken).toMatchObject({ code: 6, reason: 'IDP_NAME_TAKEN' })
})

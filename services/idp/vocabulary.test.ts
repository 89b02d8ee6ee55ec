import { expect, test } from 'vitest'
import { evolveIdp } from './vocabulary.ts'

const settings = { name: 'ACME', stylingType: 0 as const, autoRegister: true }
const oidc = { clientId: 'c', issuer: 'https://i.example', scopes: ['openid'] }
const added = evolveIdp(undefined, { type: 'oidc.added', payload: { ...settings, oidc } })

test('a provider begins with all its settings, and a change leaves its protocol alone', () => {
  expect(added).toEqual({ ...settings, oidc })
  const changed = evolveIdp(added, { type: 'changed', payload: { name: 'B', stylingType: 1, autoRegister: false } })
  expect(changed).toEqual({ name: 'B', stylingType: 1, autoRegister: false, oidc })
})

test('no provider begins with a change', () => {
  expect(() => evolveIdp(undefined, { type: 'changed', payload: settings })).toThrow('begins with changed')
})

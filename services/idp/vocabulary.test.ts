import { describe, expect, test } from 'vitest'
import { example } from './testing/example.ts'
import { evolveIdp, type IdpEvent, only, type Protocol } from './vocabulary.ts'

const { settings, ...configurations } = example
const protocols = Object.keys(configurations) as Protocol[]

describe.each(protocols)('a provider by %s', (protocol) => {
  const configuration = only(protocol, configurations[protocol])
  const event = (type: string, payload: object) => ({ type, payload }) as IdpEvent
  const added = evolveIdp(undefined, event(`${protocol}.added`, { ...settings, ...configuration }))

  test('begins with all its settings, and a change of those of every provider leaves its protocol alone', () => {
    expect(added).toEqual({ ...settings, ...configuration })
    const other = { name: 'B', stylingType: 0, autoRegister: false }
    expect(evolveIdp(added, event('changed', other))).toEqual({ ...other, ...configuration })
  })

  test('has the settings of the last change of its protocol, and does not keep that its secret changed', () => {
    const other = { ...configuration[protocol], issuer: 'other' }
    const changed = evolveIdp(added, event(`${protocol}.changed`, { [protocol]: other }))
    expect(changed).toEqual({ ...settings, [protocol]: other })
    expect(evolveIdp(added, event('oidc.changed', { secretReplaced: true }))).toEqual(added)
  })
})

test('a provider is inactive from its deactivation to its reactivation, and removed for ever', () => {
  const added = evolveIdp(undefined, { type: 'oidc.added', payload: { ...settings, oidc: example.oidc } })
  const inactive = evolveIdp(added, { type: 'deactivated', payload: {} })
  expect(inactive.inactive).toBe(true)
  expect(evolveIdp(inactive, { type: 'reactivated', payload: {} }).inactive).toBe(false)
  expect(evolveIdp(inactive, { type: 'removed', payload: {} })).toMatchObject({ removed: true })
})

test('no provider begins with a change', () => {
  expect(() => evolveIdp(undefined, { type: 'changed', payload: settings })).toThrow('begins with changed')
})

import { describe, expect, test } from 'vitest'
import { evolveOrganization } from './organization.ts'

describe('an organization', () => {
  const acme = evolveOrganization(undefined, { type: 'added', payload: { name: 'ACME', primaryDomain: 'acme.test' } })

  test('changes its name, its domain and its state', () => {
    const renamed = evolveOrganization(acme, { type: 'changed', payload: { name: 'New' } })
    expect(renamed).toEqual({ name: 'New', primaryDomain: 'acme.test' })
    const moved = evolveOrganization(renamed, { type: 'domain.changed', payload: { primaryDomain: 'new.test' } })
    expect(moved).toEqual({ name: 'New', primaryDomain: 'new.test' })
    const inactive = evolveOrganization(moved, { type: 'deactivated', payload: {} })
    expect(inactive).toEqual({ ...moved, inactive: true })
    expect(evolveOrganization(inactive, { type: 'reactivated', payload: {} })).toEqual(moved)
    expect(evolveOrganization(inactive, { type: 'removed', payload: {} })).toMatchObject({ removed: true })
  })

  test('begins with no other event', () => {
    expect(() => evolveOrganization(undefined, { type: 'removed', payload: {} })).toThrow('begins with removed')
  })
})

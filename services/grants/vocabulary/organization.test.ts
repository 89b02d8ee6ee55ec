import { describe, expect, test } from 'vitest'
import { evolveOrganization } from './organization.ts'

const at = new Date(0)

describe('an organization', () => {
  const acme = evolveOrganization(
    undefined,
    { type: 'added', payload: { name: 'ACME', primaryDomain: 'acme.test' } },
    at,
  )

  test('changes its name, its domain and its state', () => {
    const renamed = evolveOrganization(acme, { type: 'changed', payload: { name: 'New' } }, at)
    expect(renamed).toEqual({ name: 'New', primaryDomain: 'acme.test' })
    const moved = evolveOrganization(renamed, { type: 'domain.changed', payload: { primaryDomain: 'new.test' } }, at)
    expect(moved).toEqual({ name: 'New', primaryDomain: 'new.test' })
    const inactive = evolveOrganization(moved, { type: 'deactivated', payload: {} }, at)
    expect(inactive).toEqual({ ...moved, inactive: true })
    expect(evolveOrganization(inactive, { type: 'reactivated', payload: {} }, at)).toEqual(moved)
    expect(evolveOrganization(inactive, { type: 'removed', payload: {} }, at)).toMatchObject({ removed: true })
  })

  test('begins with no other event', () => {
    expect(() => evolveOrganization(undefined, { type: 'removed', payload: {} }, at)).toThrow('begins with removed')
  })
})

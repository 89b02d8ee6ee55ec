import { describe, expect, test } from 'vitest'
import { evolve } from './evolve.ts'

const added = evolve.project(undefined, { type: 'added', payload: { name: 'P' } })
const withRole = (roleKey: string) =>
  evolve.project(added, { type: 'role.added', payload: { roleKey, displayName: 'R', group: '' } })

describe('a project', () => {
  test('begins without roles and gets them one by one', () => {
    expect(added).toEqual({ name: 'P', roles: {} })
    expect(withRole('reader').roles).toEqual({ reader: { displayName: 'R', group: '' } })
    expect(added.roles).toEqual({})
  })

  test('begins with no other event', () => {
    const event = { type: 'role.added' as const, payload: { roleKey: 'r', displayName: '', group: '' } }
    expect(() => evolve.project(undefined, event)).toThrow('begins with role.added')
  })

  test.each(['__proto__', 'constructor', 'toString'])(
    'has the role %s only where it was added, also after it was stored',
    (key) => {
      expect(Object.hasOwn(added.roles, key)).toBe(false)
      const stored = JSON.parse(JSON.stringify(withRole(key))) as typeof added
      expect(Object.hasOwn(stored.roles, key)).toBe(true)
      const event = { type: 'role.added' as const, payload: { roleKey: 'other', displayName: '', group: '' } }
      expect(Object.keys(evolve.project(stored, event).roles)).toEqual([key, 'other'])
    },
  )
})

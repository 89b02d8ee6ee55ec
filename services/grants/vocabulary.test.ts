import { describe, expect, test } from 'vitest'
import { evolve, roleNotFound, sortRoleKeys } from './vocabulary.ts'

const added = evolve.project(undefined, { type: 'added', payload: { name: 'P' } })
const withRole = (roleKey: string) =>
  evolve.project(added, { type: 'role.added', payload: { roleKey, displayName: 'R', group: '' } })

describe('a project', () => {
  test('begins without roles and gets them one by one', () => {
    expect(added).toEqual({ name: 'P', roles: {} })
    expect(withRole('reader').roles).toEqual({ reader: { displayName: 'R', group: '' } })
    expect(added.roles).toEqual({})
  })

  test('begins with nothing else', () => {
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

describe('role keys', () => {
  test('are each taken once, in their order', () => {
    expect(sortRoleKeys(['b', 'a', 'b', 'c'], () => true)).toEqual({ roleKeys: ['b', 'a', 'c'], unknown: [] })
  })
  test('that are unknown are each named once', () => {
    expect(sortRoleKeys(['b', 'a', 'a'], (key) => key === 'b').unknown).toEqual(['a'])
  })
  test('that are compared exactly are not folded', () => {
    expect(sortRoleKeys(['Admin', 'admin'], (key) => key === 'admin').unknown).toEqual(['Admin'])
  })
})

describe('the error for unknown roles', () => {
  test('names them for people and for programs', () => {
    const error = roleNotFound(['a', 'b, "c'])
    expect(error).toMatchObject({ code: 9, reason: 'ROLE_NOT_FOUND', message: 'There are no such roles: a, b, "c.' })
    expect(JSON.parse(error.metadata.roleKeys!)).toEqual(['a', 'b, "c'])
  })
  test('stays small, however many and long they are', () => {
    const error = roleNotFound(Array.from({ length: 5000 }, (_, index) => `${index}${'🦊'.repeat(5000)}`))
    expect(JSON.parse(error.metadata.roleKeys!)).toHaveLength(10)
    expect(Buffer.byteLength(error.message)).toBeLessThan(10_000)
    expect(error.message).not.toMatch(/[\ud800-\udfff](?![\udc00-\udfff])(?<![\ud800-\udbff][\udc00-\udfff])/)
  })
})

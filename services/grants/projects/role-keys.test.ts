import { describe, expect, test } from 'vitest'
import { roleNotFound, sortRoleKeys } from './role-keys.ts'

describe('role keys', () => {
  test('count once each, in their order', () => {
    expect(sortRoleKeys(['b', 'a', 'b', 'c'], () => true)).toEqual({ roleKeys: ['b', 'a', 'c'], unknown: [] })
  })
  test('are named once each where they are unknown', () => {
    expect(sortRoleKeys(['b', 'a', 'a'], (key) => key === 'b').unknown).toEqual(['a'])
  })
  test('are compared exactly, case included', () => {
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

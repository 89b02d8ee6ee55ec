import { expect, test } from 'vitest'
import { matchedRows, rowIdOf, rowOf } from './role-rows.ts'

const row = (claim: string, value: string, projectId = 'p') => ({ claim, value, projectId, roleKeys: ['reader'] })
const said = { groups: ['admins', 7, 'leads'], department: 'Sales', realm: { roles: ['deep'] }, yes: true }

test.each<[string, string, boolean]>([
  ['groups', 'admins', true],
  ['groups', 'Admins', false],
  ['groups', 'adm', false],
  ['groups', '7', false],
  ['department', 'Sales', true],
  ['/realm/roles', 'deep', true],
  ['realm', 'deep', false],
  ['yes', 'true', false],
  ['none', '', false],
])('the claim %s with the value %s matches: %s', (claim, value, matches) =>
  expect(matchedRows([row(claim, value)], said).length === 1).toBe(matches),
)

test('a row is known by its claim, value and project, also where its roles change', () => {
  const id = rowIdOf(row('groups', 'admins'))
  expect(rowOf({ ...row('groups', 'admins'), roleKeys: ['writer'] }).rowId).toBe(id)
  const others = [row('group', 'sadmins'), row('groups', 'admin'), row('groups', 'admins', 'q')].map(rowIdOf)
  expect(new Set([id, ...others]).size).toBe(4)
})

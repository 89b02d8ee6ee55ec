import { describe, expect, test } from 'vitest'
import { anonymous, type Caller, holds, rolesIn } from '#lib/rpc/caller'
import { coversRole, grantsPermission, permissions } from '#lib/rpc/roles'

const roles = ['IAM_OWNER', 'ORG_OWNER', 'ORG_USER_MANAGER', 'ORG_OWNER_VIEWER']

test('the permissions of each role are what was last read in review', async () => {
  const lines = permissions.map(
    (permission) => `${permission}: ${roles.filter((role) => grantsPermission([role], permission)).join(', ')}`,
  )
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('./roles.txt')
})

test.each(['', 'OWNER', 'org_owner', 'constructor', '__proto__', 'toString', 'IAM_OWNER '])(
  'the unknown role "%s" gives nothing',
  (role) => expect(permissions.some((permission) => grantsPermission([role], permission))).toBe(false),
)

test('an organization’s owner gets no permission of the instance, not even a future one', () => {
  for (const role of roles.slice(1))
    for (const permission of ['iam.read', 'iam.member.write', 'iam.policy.read'])
      expect(grantsPermission([role], permission)).toBe(false)
})

describe('nobody grants a role beyond the own:', () => {
  const may: Record<string, string[]> = {
    IAM_OWNER: roles,
    ORG_OWNER: ['ORG_OWNER', 'ORG_USER_MANAGER', 'ORG_OWNER_VIEWER'],
    ORG_USER_MANAGER: ['ORG_USER_MANAGER'],
    ORG_OWNER_VIEWER: ['ORG_OWNER_VIEWER'],
  }
  test.each(roles)('%s', (own) => {
    expect(roles.filter((role) => coversRole([own], role))).toEqual(may[own])
  })
  test('several roles cover what they give together', () => {
    expect(coversRole(['ORG_USER_MANAGER', 'ORG_OWNER_VIEWER'], 'ORG_OWNER')).toBe(false)
    expect(coversRole([], 'ORG_OWNER_VIEWER')).toBe(false)
  })
})

describe('a caller', () => {
  const caller: Caller = {
    ...anonymous,
    userId: 'x',
    organizationRoles: { house: ['ORG_OWNER'], other: ['ORG_OWNER_VIEWER'] },
  }

  test('holds in an organization what its roles there give, and nothing on the instance', () => {
    expect(holds(caller, 'user.write', 'house')).toBe(true)
    expect(holds(caller, 'user.write', 'other')).toBe(false)
    expect(holds(caller, 'user.read', 'other')).toBe(true)
    expect(holds(caller, 'org.create', 'house')).toBe(true)
    expect(holds(caller, 'org.create')).toBe(false)
    expect(holds(caller, 'user.read', 'third')).toBe(false)
  })

  test('holds the roles of the instance in every organization', () => {
    const root = { ...caller, instanceRoles: ['IAM_OWNER'] }
    expect(rolesIn(root, 'house')).toEqual(['IAM_OWNER', 'ORG_OWNER'])
    expect(holds(root, 'iam.idp.write')).toBe(true)
    expect(holds(root, 'user.write', 'third')).toBe(true)
  })

  test.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty', ''])(
    'holds nothing in an organization of the name "%s"',
    (id) => {
      expect(rolesIn(caller, id)).toEqual([])
      expect(permissions.some((permission) => holds(caller, permission, id))).toBe(false)
    },
  )

  test('with such organization names in its JSON holds the roles stated there, and no others', () => {
    const odd = { ...caller, organizationRoles: JSON.parse('{"__proto__": ["ORG_OWNER"]}') as Record<string, string[]> }
    expect(holds(odd, 'user.write', '__proto__')).toBe(true)
    expect(holds(odd, 'user.write', 'house')).toBe(false)
  })
})

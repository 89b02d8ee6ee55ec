import { isDeepStrictEqual } from 'node:util'
import { describe, expect, test } from 'vitest'
import { actsIn, anonymous, type Caller, holds, rolesIn } from '#lib/rpc/caller'
import { expectPart } from '../support/expect-part.ts'
import { faults } from '../support/requests.ts'
import { coversRole, grantsPermission, permissions, rolesOf } from '#lib/rpc/roles'

const roles = [...rolesOf('instance'), ...rolesOf('organization'), ...rolesOf('project')]

test('the permissions of each role are what was last read in review', async () => {
  const lines = permissions.map(
    (permission) => `${permission}: ${roles.filter((role) => grantsPermission([role], permission)).join(', ')}`,
  )
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('./roles.txt')
})

test('docs/contract.md says of each role what it gives', () => {
  const rows = roles.map((role) => `| \`${role}\` | ${givenBy(role)} |`)
  const table = ['| Role | Permissions |', '|---|---|', ...rows].join('\n')
  expectPart('contract.md', 'roles', table)
})

const sets: [string, (permission: string) => boolean][] = [
  ['every permission', () => true],
  [
    'every permission but those of `iam`, `session.write` and `session.link`',
    (permission) => !/^(iam\.|session\.(write|link)$)/.test(permission),
  ],
  ['`read` of everything', (permission) => permission.endsWith('.read')],
  ['`read` of everything but `iam`', (permission) => permission.endsWith('.read') && !permission.startsWith('iam.')],
]

function givenBy(role: string): string {
  const given = permissions.filter((permission) => grantsPermission([role], permission))
  const [whole] = sets.find(([, isIn]) => isDeepStrictEqual(given, permissions.filter(isIn))) ?? []
  if (whole) return whole
  const objects = Map.groupBy(given, (permission) => permission.slice(0, permission.lastIndexOf('.')))
  const verbs = (of: string[]) => of.map((permission) => permission.slice(permission.lastIndexOf('.') + 1))
  return [...objects].map(([object, of]) => `\`${object}\` (${verbs(of).join(', ')})`).join(', ')
}

const levels = [
  ['Instance', 'instance'],
  ['Organization', 'organization'],
  ['Project', 'project'],
] as const

test.each(levels)('members of the level %s get the roles of this level, and no others', (name, level) => {
  const method = (verb: string) =>
    `grants.v1.${name === 'Project' ? 'ProjectMember' : name}Service.${verb}${name}Member${verb === 'Search' ? 's' : ''}`
  const own = name === 'Project' ? { projectId: 'p' } : {}
  const allowed = (verb: string, request: (role: string) => object) =>
    roles.filter((role) => faults(method(verb), { ...own, ...request(role) }).length === 0)
  for (const verb of ['Add', 'Update'])
    expect(allowed(verb, (role) => ({ userId: 'u', roles: [role] }))).toEqual(rolesOf(level))
  expect(allowed('Search', (role) => ({ role }))).toEqual(rolesOf(level))
})

test.each(['', 'OWNER', 'org_owner', 'constructor', '__proto__', 'toString', 'IAM_OWNER '])(
  'the unknown role "%s" gives nothing',
  (role) => expect(permissions.some((permission) => grantsPermission([role], permission))).toBe(false),
)

test('an organization’s owner gets no permission of the instance, not even a future one', () => {
  for (const role of [...rolesOf('organization'), ...rolesOf('project')])
    for (const permission of ['iam.read', 'iam.member.write', 'iam.policy.read'])
      expect(grantsPermission([role], permission)).toBe(false)
})

describe('no one grants a role beyond the own:', () => {
  // What no role above it gives away, and the strongest role that each covers.
  const beyond: Record<string, string[]> = {
    IAM_OWNER: [],
    IAM_OWNER_VIEWER: ['IAM_OWNER', 'ORG_OWNER', 'ORG_USER_MANAGER', 'PROJECT_OWNER', 'PROJECT_GRANT_OWNER'],
    IAM_ORG_MANAGER: ['IAM_OWNER', 'IAM_OWNER_VIEWER'],
    IAM_USER_MANAGER: ['IAM_OWNER', 'IAM_OWNER_VIEWER', 'IAM_ORG_MANAGER', 'ORG_OWNER', 'ORG_OWNER_VIEWER'],
    ORG_OWNER: ['IAM_OWNER', 'IAM_OWNER_VIEWER'],
    ORG_USER_MANAGER: ['IAM_OWNER', 'IAM_OWNER_VIEWER', 'IAM_ORG_MANAGER', 'ORG_OWNER', 'ORG_OWNER_VIEWER'],
    ORG_OWNER_VIEWER: ['IAM_OWNER', 'IAM_OWNER_VIEWER', 'ORG_OWNER', 'ORG_USER_MANAGER', 'PROJECT_OWNER'],
    PROJECT_OWNER: ['IAM_OWNER', 'ORG_OWNER', 'ORG_USER_MANAGER', 'ORG_OWNER_VIEWER'],
    PROJECT_OWNER_VIEWER: ['ORG_OWNER', 'ORG_OWNER_VIEWER', 'PROJECT_OWNER', 'PROJECT_GRANT_OWNER'],
    PROJECT_GRANT_OWNER: ['ORG_OWNER', 'ORG_USER_MANAGER', 'PROJECT_OWNER'],
  }
  test.each(Object.entries(beyond))('%s', (own, roles) => {
    expect(roles.filter((role) => coversRole([own], role))).toEqual([])
    expect(coversRole([own], own)).toBe(true)
  })
  test('a role of the instance is covered by roles of the instance alone, whatever it gives', () => {
    const below = [...rolesOf('organization'), ...rolesOf('project')]
    for (const role of rolesOf('instance')) expect([role, coversRole(below, role)]).toEqual([role, false])
    for (const role of rolesOf('organization'))
      expect([role, coversRole(rolesOf('project'), role)]).toEqual([role, false])
    expect(coversRole(['IAM_ORG_MANAGER'], 'IAM_USER_MANAGER')).toBe(true)
    expect(coversRole(['IAM_USER_MANAGER'], 'ORG_USER_MANAGER')).toBe(true)
  })
  test('an owner gives every role of the level below', () => {
    const owned = [...rolesOf('organization'), ...rolesOf('project')]
    expect(owned.filter((role) => !coversRole(['ORG_OWNER'], role))).toEqual([])
    expect(roles.filter((role) => !coversRole(['IAM_OWNER'], role))).toEqual([])
    expect(rolesOf('project').filter((role) => !coversRole(['PROJECT_OWNER'], role))).toEqual([])
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
    projectRoles: { other: { web: ['PROJECT_OWNER'] } },
  }

  test('holds in a project what its roles there give, and nothing in other projects or organizations', () => {
    expect(holds(caller, 'project.role.write', 'other', 'web')).toBe(true)
    expect(holds(caller, 'project.role.write', 'other')).toBe(false)
    expect(holds(caller, 'project.role.write', 'other', 'app')).toBe(false)
    expect(holds(caller, 'project.role.write', 'third', 'web')).toBe(false)
    expect(holds(caller, 'org.member.write', 'other', 'web')).toBe(false)
    expect([actsIn(caller, 'other'), actsIn({ ...caller, organizationRoles: {} }, 'other')]).toEqual([true, true])
    expect([actsIn(caller, 'third'), actsIn(caller, '__proto__')]).toEqual([false, false])
  })

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
      expect([...rolesIn(caller, id), ...rolesIn(caller, 'other', id)]).toEqual(['ORG_OWNER_VIEWER'])
      expect(rolesIn(caller, id, id)).toEqual([])
      expect(permissions.some((permission) => holds(caller, permission, id))).toBe(false)
    },
  )

  test('with such organization names in its JSON holds the roles stated there, and no others', () => {
    const odd = { ...caller, organizationRoles: JSON.parse('{"__proto__": ["ORG_OWNER"]}') as Record<string, string[]> }
    expect(holds(odd, 'user.write', '__proto__')).toBe(true)
    expect(holds(odd, 'user.write', 'house')).toBe(false)
  })
})

import { TimestampSchema } from '@bufbuild/protobuf/wkt'
import { create, fromJson, type JsonValue, type Message } from '@bufbuild/protobuf'
import { describe, expect, test } from 'vitest'
import { methods } from '#lib/rpc/methods'
import { validate } from '#lib/rpc/validate'
import { faults, requestOf, valid } from '../support/requests.ts'

test.each(Object.keys(valid))('the shortest %s is valid', (name) => expect(faults(name, valid[name]!)).toEqual([]))

// docs/contract.md: texts have 1 to 200 characters unless it says otherwise. [operation, field, longest, may be empty]
const limits: [string, string, number, boolean][] = [
  ['users.v1.UserService.UpdateMyProfile', 'firstName', 200, false],
  ['users.v1.UserService.UpdateMyProfile', 'lastName', 200, false],
  ['users.v1.UserService.UpdateMyProfile', 'nickName', 200, false],
  ['users.v1.UserService.UpdateMyProfile', 'displayName', 200, false],
  ['users.v1.UserService.AddMachineUser', 'userName', 200, false],
  ['users.v1.UserService.AddMachineUser', 'name', 200, false],
  ['users.v1.UserService.AddMachineUser', 'description', 500, true],
  ['idp.v1.IdentityProviderService.UpdateIDP', 'name', 200, false],
  ['grants.v1.UserGrantService.AddUserGrant', 'projectId', 200, false],
  ['grants.v1.UserGrantService.AddUserGrant', 'projectGrantId', 200, true],
  ['users.v1.UserService.SetEmail', 'sendCode.urlTemplate', 200, false],
  ['users.v1.UserService.AddHumanUser', 'profile.nickName', 200, false],
  ['users.v1.UserService.AddHumanUser', 'email.sendCode.urlTemplate', 200, false],
  ['users.v1.UserService.AddHumanUser', 'password', 200, false],
]

describe.each(limits)('%s: %s', (name, path, longest, mayBeEmpty) => {
  const at = (value: string) => faults(name, put(valid[name]!, path, value))

  test(`takes ${longest} code points, of whatever size`, () => {
    for (const character of ['x', 'é', '漢', '🦊']) expect(at(character.repeat(longest))).toEqual([])
  })
  test('refuses one more', () => {
    for (const character of ['x', '🦊']) expect(at(character.repeat(longest + 1))).toEqual([path])
  })
  test(mayBeEmpty ? 'may be empty' : 'may not be empty', () => expect(at('')).toEqual(mayBeEmpty ? [] : [path]))
  test('may not hold U+0000', () => expect(at('longenough\0')).toEqual([path]))
})

test('a message within one of its own kind keeps all rules', () => {
  const within = [
    { notQuery: { query: { userNameQuery: { userName: 'x'.repeat(201) } } } },
    { andQuery: { queries: [{}] } },
  ]
  expect(faults('users.v1.UserService.SearchUsers', { queries: [{ orQuery: { queries: within } }] })).toEqual([
    'queries[0].orQuery.queries[0].notQuery.query.userNameQuery.userName',
    'queries[0].orQuery.queries[1].andQuery.queries[0].query',
  ])
})

test('all violations are reported at once, with their JSON paths', () => {
  const request = {
    userName: '',
    userId: 'a b',
    profile: { firstName: '', lastName: 'x'.repeat(201), nickName: '', preferredLanguage: 'de_DE', gender: 9 },
    email: { email: 'no-address', sendCode: { urlTemplate: '' } },
    password: 'short',
  }
  expect(faults('users.v1.UserService.AddHumanUser', request).sort()).toEqual([
    'email.email',
    'email.sendCode.urlTemplate',
    'password',
    'profile.firstName',
    'profile.gender',
    'profile.lastName',
    'profile.nickName',
    'profile.preferredLanguage',
    'userId',
    'userName',
  ])
})

test('a missing required message is named', () => {
  expect(faults('users.v1.UserService.AddHumanUser', { userName: 'a' })).toEqual(['profile', 'email'])
})

test('a violation in a list names the index', () => {
  const member = (roles: string[]) =>
    faults('grants.v1.OrganizationService.AddOrganizationMember', { userId: 'u', roles })
  expect(member(['ORG_OWNER', 'IAM_OWNER'])).toEqual(['roles[1]'])
  expect(member([])).toEqual(['roles'])
  expect(member(['ORG_OWNER', 'ORG_OWNER'])).toEqual(['roles'])
  const grant = { userId: 'u', projectId: 'p', roleKeys: ['\0', 'fine', 'a\0'] }
  expect(faults('grants.v1.UserGrantService.AddUserGrant', grant)).toEqual(['roleKeys[0]', 'roleKeys[2]'])
})

describe('a time', () => {
  const at = (seconds: bigint, nanos = 0) => {
    const names = {
      'notifier.v1.EventService.SearchEvents': 'filter.since',
      'users.v1.CredentialService.AddMachineKey': 'expirationDate',
    }
    return Object.entries(names).flatMap(([name, path]) => {
      const time = create(TimestampSchema, { seconds, nanos })
      const message = path === 'filter.since' ? { filter: { since: time } } : { userId: 'u', expirationDate: time }
      const faults = validate(requestOf(name), create(requestOf(name), message as never))
      return faults.map(({ field }) => (expect(field).toBe(path), name))
    }).length
  }
  const [first, last] = [-62_135_596_800n, 253_402_300_799n]

  test('within the years 1 to 9999 is valid', () => {
    for (const seconds of [first, 0n, last]) expect([at(seconds), at(seconds, 999_000_000)]).toEqual([0, 0])
  })
  test('outside them, or with an impossible part of a second, is refused, and the field named', () => {
    for (const seconds of [first - 1n, last + 1n, -(2n ** 62n), 2n ** 62n]) expect(at(seconds)).toBe(2)
    expect(at(last, 999_000_001)).toBe(2)
    for (const nanos of [-1, 1_000_000_000]) expect(at(0n, nanos)).toBe(2)
  })
})

test('a violation describes the fault and does not repeat the input', () => {
  const desc = requestOf('users.v1.SessionService.CreateSession')
  const json = { loginName: 'l', password: `hunter2${'x'.repeat(200)}` }
  expect(JSON.stringify(validate(desc, fromJson(desc, json) as Message))).not.toContain('hunter2')
})

test('the items of every bulk count as calls', () => {
  const bulks = [...methods.values()].filter(({ desc }) => desc.name.startsWith('Bulk'))
  expect(bulks.map(({ desc }) => desc.name)).toContain('BulkAddProjectRoles')
  expect(bulks.filter(({ items }) => !items)).toEqual([])
})

function put(json: Record<string, JsonValue>, path: string, value: string): Record<string, JsonValue> {
  const [first, ...rest] = path.split('.')
  const inner = (json[first!] ?? {}) as Record<string, JsonValue>
  return { ...json, [first!]: rest.length === 0 ? value : put(inner, rest.join('.'), value) }
}

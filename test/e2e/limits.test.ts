import type { JsonObject } from '@bufbuild/protobuf'
import { beforeAll, describe, expect, test } from 'vitest'
import { admin, getUser, newHuman, newMember, newOrganization, ok, unique, uniqueEmail } from '../examples/people.ts'
import { newIdp, newProject } from '../examples/projects.ts'
import type { Operation } from '../examples/contract.ts'
import { factsOf } from './clients/call.ts'
import { over } from './clients/encodings.ts'

// One code point, two UTF-16 units, four bytes.
const wide = '𝒜'
const fill = (length: number) => wide.repeat(length)
// A name must be unique.
const name = (length: number) => {
  const end = unique('')
  return fill(length - end.length) + end
}
const local = 'x'.repeat(64)
const email = (length: number) =>
  `${local}@${'d'.repeat(60)}.${'e'.repeat(60)}.${'f'.repeat(length - 64 - 1 - 61 - 61 - 4)}.org`
const template = (length: number) => `https://app.example.com/${'t'.repeat(length - 24)}`

const organization = newOrganization()
let me: { token: string; userId: string }
let userId: string
let idpId: string
let project: string

beforeAll(async () => {
  me = await newMember(await organization, [])
  userId = (await newHuman(await organization)).userId
  idpId = (await newIdp()).idpId
  project = await newProject(await organization)
})

interface Limit {
  operation: Operation
  /** The path in JSON spelling. */
  field: string
  max: number
  /** Whether an empty value is refused. */
  nonEmpty: boolean
  request: (value: string) => JsonObject
  value?: (length: number) => string
  /** The reason of the answer to the longest value, where that is no success. */
  longest?: string
}

const profile = { firstName: 'F', lastName: 'L', displayName: 'D' }
const machine = () => ({ userName: unique('machine'), name: 'M' })
const limits: Limit[] = [
  ...['firstName', 'lastName', 'nickName', 'displayName'].map((field): Limit => ({
    operation: 'UpdateMyProfile',
    field,
    max: 200,
    nonEmpty: true,
    request: (value) => ({ ...profile, [field]: value }),
  })),
  {
    operation: 'UpdateMyProfile',
    field: 'preferredLanguage',
    max: 10,
    nonEmpty: false,
    request: (value) => ({ ...profile, preferredLanguage: value }),
    value: (length) => 'de-DE-1996'.padEnd(length, '0'),
  },
  {
    operation: 'UpdateIDP',
    field: 'name',
    max: 200,
    nonEmpty: true,
    request: (value) => ({ idpId, name: value }),
    value: name,
  },
  {
    operation: 'AddMachineUser',
    field: 'userName',
    max: 200,
    nonEmpty: true,
    request: (value) => ({ ...machine(), userName: value }),
    value: name,
  },
  {
    operation: 'AddMachineUser',
    field: 'name',
    max: 200,
    nonEmpty: true,
    request: (value) => ({ ...machine(), name: value }),
  },
  {
    operation: 'AddMachineUser',
    field: 'description',
    max: 500,
    nonEmpty: false,
    request: (value) => ({ ...machine(), description: value }),
  },
  {
    operation: 'SetEmail',
    field: 'email',
    max: 200,
    nonEmpty: true,
    request: (value) => ({ userId, email: value, returnCode: {} }),
    value: email,
  },
  {
    operation: 'SetEmail',
    field: 'sendCode.urlTemplate',
    max: 200,
    nonEmpty: true,
    request: (value) => ({ userId, email: uniqueEmail(), sendCode: { urlTemplate: value } }),
    value: template,
  },
  {
    operation: 'AddUserGrant',
    field: 'projectId',
    max: 200,
    nonEmpty: true,
    request: (value) => ({ userId, projectId: value }),
    longest: 'PROJECT_NOT_FOUND',
  },
  {
    operation: 'AddUserGrant',
    field: 'projectGrantId',
    max: 200,
    nonEmpty: false,
    request: (value) => ({ userId, projectId: project, projectGrantId: value }),
    longest: 'PROJECT_GRANT_NOT_FOUND',
  },
]

describe.each(over('connect'))('the limits of the contract over $encoding', ({ call }) => {
  const send = async ({ operation }: Limit, request: JsonObject) =>
    call(operation, request, operation === 'UpdateMyProfile' ? me : admin(await organization))

  test.each(limits)('$operation $field: $max code points are accepted, one more is refused', async (limit) => {
    const value = limit.value ?? fill
    expect(factsOf(await send(limit, limit.request(value(limit.max)))).reason).toBe(limit.longest)
    expect([...value(limit.max)]).toHaveLength(limit.max)
    const over = await send(limit, limit.request(value(limit.max + 1)))
    expect(factsOf(over)).toMatchObject({ code: 3, reason: 'VALIDATION_FAILED', fields: [limit.field] })
  })

  test.each(limits.filter(({ nonEmpty }) => nonEmpty))('$operation $field: empty is refused', async (limit) => {
    expect(factsOf(await send(limit, limit.request('')))).toMatchObject({ code: 3, fields: [limit.field] })
  })

  test.each(limits.filter(({ nonEmpty }) => !nonEmpty))('$operation $field: empty is accepted', async (limit) => {
    if (limit.operation === 'AddUserGrant') return
    ok(await send(limit, limit.request('')))
  })

  test('all violations come in one answer', async () => {
    const long = fill(201)
    const answer = await call(
      'UpdateMyProfile',
      { firstName: '', lastName: long, nickName: '', displayName: long, preferredLanguage: 'not a language' },
      me,
    )
    const { fields, violations } = factsOf(answer)
    expect([...new Set(fields)].toSorted()).toEqual([
      'displayName',
      'firstName',
      'lastName',
      'nickName',
      'preferredLanguage',
    ])
    for (const { description } of violations) expect(description).toMatch(/\S/)
    const template = { email: 'none', sendCode: { urlTemplate: 'no URL' } }
    expect(factsOf(await call('SetEmail', { userId, ...template }, admin())).fields.toSorted()).toEqual([
      'email',
      'sendCode.urlTemplate',
    ])
  })

  test('an enumeration accepts only its values', async () => {
    const requests: [Operation, JsonObject, string][] = [
      ['UpdateMyProfile', { ...profile, gender: 4 }, 'gender'],
      ['UpdateIDP', { idpId, name: unique('Provider'), stylingType: 2 }, 'stylingType'],
      ['AddMachineUser', { ...machine(), accessTokenType: 2 }, 'accessTokenType'],
    ]
    for (const [operation, request, field] of requests) {
      const facts = factsOf(await call(operation, request, operation === 'UpdateMyProfile' ? me : admin()))
      expect(facts).toMatchObject({ code: 3, fields: [field] })
    }
  })

  test('U+0000 is refused in every text, and the error names the field', async () => {
    const request = { ...machine(), description: 'a\0b' }
    expect(factsOf(await call('AddMachineUser', request, admin()))).toMatchObject({ code: 3, fields: ['description'] })
    const roles = { userId, projectId: project, roleKeys: ['ok', '\0'] }
    expect(factsOf(await call('AddUserGrant', roles, admin(await organization))).fields).toEqual(['roleKeys[1]'])
    expect(factsOf(await call('SetEmail', { userId: 'a\0', email: uniqueEmail() }, admin())).fields).toEqual(['userId'])
  })

  test('accepted texts come back unchanged: wide, combining and right-to-left characters, quotes', async () => {
    const texts = { firstName: '𝒜👩‍👩‍👧', lastName: 'e\u0301\u202Ex', displayName: `"'\\;--<b>\u0007\t\n{{.Code}}\u2028` }
    ok(await call('UpdateMyProfile', texts, me))
    expect((await getUser(me.userId)).human.profile).toEqual(texts)
  })
})

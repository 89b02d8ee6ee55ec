import { create, type DescMessage, fromBinary, type MessageInitShape, toBinary } from '@bufbuild/protobuf'
import { BinaryWriter } from '@bufbuild/protobuf/wire'
import { ListOrgsRequestSchema } from '@zitadel/proto/zitadel/admin_pb.js'
import {
  AddHumanUserRequestSchema as AddHumanV1,
  AddMachineUserRequestSchema,
  AddOrgMemberRequestSchema,
  AddProjectRequestSchema,
  AddProjectResponseSchema,
  ImportHumanUserRequestSchema,
  SetHumanPasswordRequestSchema,
  UpdateProjectRequestSchema,
} from '@zitadel/proto/zitadel/management_pb.js'
import {
  AddHumanUserRequestSchema,
  AddHumanUserResponseSchema,
  CreateUserRequestSchema,
  CreateUserResponseSchema,
  SetEmailRequestSchema,
} from '@zitadel/proto/zitadel/user/v2/user_service_pb.js'
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { admin, getUser, newMember, newOrganization, ok, unique, uniqueEmail } from '../../examples/people.ts'
import { call } from '../clients/encodings.ts'
import { factsOf } from '../clients/call.ts'
import { type Send, type Sent, ways } from './send.ts'
import { fewerOf } from '../../support/long.ts'

const management = '/zitadel.management.v1.ManagementService'
const users = '/zitadel.user.v2.UserService'

let home: string
let foreign: string
let manager: Awaited<ReturnType<typeof newMember>>
let user: typeof manager

beforeAll(async () => {
  ;[home, foreign] = await Promise.all([newOrganization(), newOrganization()])
  ;[manager, user] = await Promise.all([newMember(home, ['ORG_USER_MANAGER']), newMember(home, [])])
})

const by = (token: string, organization?: string) => ({
  authorization: `Bearer ${token}`,
  ...(organization !== undefined && { 'x-zitadel-orgid': organization }),
})
const bytesOf = <Desc extends DescMessage>(desc: Desc, init: MessageInitShape<Desc>) =>
  toBinary(desc, create(desc, init))
const facts = ({ error }: Sent) => {
  const { code, reason, fields } = factsOf({ ok: undefined, error, http: 0, headers: {} })
  return { code, reason, fields }
}
const field = (number: number, bytes: Uint8Array | string) =>
  typeof bytes === 'string'
    ? new BinaryWriter().tag(number, 2).string(bytes).finish()
    : new BinaryWriter().tag(number, 2).bytes(bytes).finish()
const machine = () => bytesOf(AddMachineUserRequestSchema, { userName: unique('machine'), name: 'Robot' })
const human = (userName: string) => ({
  userName,
  profile: { firstName: 'Ada', lastName: 'Lovelace', displayName: 'Ada' },
  email: { email: uniqueEmail(), isEmailVerified: true },
})
const isFree = async (userName: string) => ok(await call('IsUserUnique', { userName }, admin(home))).isUnique === true

describe.each(fewerOf(1, ways))('a request in ZITADEL’s words over %s:', (_, send: Send) => {
  test('an organization keeps the id that is chosen for it, by the field of the newest clients and by the former one', async () => {
    for (const number of [4, 3]) {
      const [orgId, name] = [unique('chosen'), unique('Organization')]
      const bytes = Buffer.concat([field(1, name), field(number, orgId)])
      const sent = await send(
        '/zitadel.org.v2.OrganizationService/AddOrganization',
        bytes,
        by(inject('roster').adminToken),
      )
      expect(facts(sent).code).toBe(0)
      expect(ok(await call('GetOrganization', { orgId }, admin())).organization).toMatchObject({ id: orgId, name })
    }
  })

  test('a field that Roster has no equal for is refused by name, and nothing is done', async () => {
    const userName = unique('human')
    const bytes = bytesOf(AddHumanV1, { ...human(userName), phone: { phone: '+41' } })
    expect(facts(await send(`${management}/AddHumanUser`, bytes, by(manager.token)))).toEqual({
      code: 3,
      reason: 'FIELD_UNSUPPORTED',
      fields: ['4'],
    })
    expect(await isFree(userName)).toBe(true)
  })

  test('so are unknown fields within messages, all of them at once', async () => {
    const bytes = Buffer.concat([
      bytesOf(AddHumanUserRequestSchema, {
        profile: { givenName: 'A', familyName: 'L' },
        email: { email: uniqueEmail() },
        passwordType: { case: 'password', value: { password: 'Secret-1234', changeRequired: true } },
        metadata: [{ key: 'k', value: Uint8Array.of(1) }],
      }),
      field(99, 'x'),
    ])
    const { fields, reason } = facts(await send(`${users}/AddHumanUser`, bytes, by(manager.token)))
    expect(reason).toBe('FIELD_UNSUPPORTED')
    expect(fields.toSorted()).toEqual(['6', '99'])
  })

  test('and unknown fields within a time', async () => {
    const bytes = Buffer.concat([field(1, user.userId), field(2, Uint8Array.of(0x08, 1, 0x38, 1))])
    const sent = await send(`${management}/AddPersonalAccessToken`, bytes, by(manager.token))
    expect(facts(sent)).toMatchObject({ reason: 'FIELD_UNSUPPORTED', fields: ['expirationDate.7'] })
  })

  test('identity is checked before the body is read, and permission before the fields', async () => {
    for (const bytes of [Uint8Array.of(0xff), field(99, 'x'), machine()]) {
      expect(facts(await send(`${management}/AddMachineUser`, bytes, {})).code).toBe(16)
      expect(facts(await send(`${management}/AddMachineUser`, bytes, by('no-token'))).code).toBe(16)
    }
    const invalid = bytesOf(AddMachineUserRequestSchema, {})
    expect(facts(await send(`${management}/AddMachineUser`, invalid, by(user.token))).code).toBe(7)
    expect(facts(await send(`${management}/AddMachineUser`, machine(), by(manager.token, foreign))).code).toBe(7)
  })

  test.each([
    ['a wrong wire type', () => Buffer.concat([machine(), new BinaryWriter().tag(2, 0).uint32(1).finish()])],
    ['a group', () => Buffer.concat([machine(), Uint8Array.of(0x1b, 0x1c)])],
    ['field number 0', () => Buffer.concat([machine(), Uint8Array.of(0x02, 0)])],
    ['a name that is no UTF-8', () => Buffer.concat([machine(), field(1, Uint8Array.of(0xff))])],
    ['an end that is missing', () => machine().subarray(0, -1)],
  ])('%s is malformed', async (_, bytes) => {
    const sent = await send(`${management}/AddMachineUser`, bytes(), by(manager.token))
    expect(facts(sent)).toMatchObject({ code: 3, reason: 'REQUEST_MALFORMED' })
  })

  test('a message in two parts is one message, and its last value is the one that rules see', async () => {
    const userName = unique('human')
    const good = bytesOf(AddHumanV1, human(userName))
    const bad = field(3, field(1, 'no address'))
    for (const bytes of [Buffer.concat([good, bad])]) {
      const sent = await send(`${management}/AddHumanUser`, bytes, by(manager.token))
      expect(facts(sent)).toEqual({ code: 3, reason: 'VALIDATION_FAILED', fields: ['email.email'] })
    }
    expect(await isFree(userName)).toBe(true)
    expect(facts(await send(`${management}/AddHumanUser`, Buffer.concat([bad, good]), by(manager.token))).code).toBe(0)
    expect(await isFree(userName)).toBe(false)
  })

  test('of a oneof that comes twice, the last member is what access and operation see', async () => {
    const email = uniqueEmail()
    const first = bytesOf(SetEmailRequestSchema, { userId: user.userId, email })
    const [sendCode, returnCode] = [field(3, new Uint8Array()), field(4, new Uint8Array())]
    const denied = await send(`${users}/SetEmail`, Buffer.concat([first, sendCode, returnCode]), by(user.token))
    expect(facts(denied).code).toBe(7)
    const sent = await send(`${users}/SetEmail`, Buffer.concat([first, returnCode, sendCode]), by(user.token))
    expect(facts(sent).code).toBe(0)
  })

  test('values count before they are read', async () => {
    const bytes = bytesOf(AddOrgMemberRequestSchema, { userId: user.userId, roles: Array(3000).fill('x') })
    const path = `${management}/AddOrgMember`
    expect(facts(await send(path, bytes, by(manager.token)))).toMatchObject({ code: 8, reason: 'REQUEST_TOO_LARGE' })
    expect(facts(await send(path, bytes, {})).code).toBe(16)
  })

  test('the checks of a project are those that were sent, also where they were not', async () => {
    const asAdmin = by(admin().token, home)
    const sent = await send(
      `${management}/AddProject`,
      bytesOf(AddProjectRequestSchema, { name: unique('P') }),
      asAdmin,
    )
    const { id: projectId } = fromBinary(AddProjectResponseSchema, sent.bytes!)
    const checks = async () => {
      const { project } = ok(await call('GetProject', { projectId }, admin(home)))
      const { projectRoleAssertion = false, projectRoleCheck = false, hasProjectCheck = false } = project
      return [projectRoleAssertion, projectRoleCheck, hasProjectCheck]
    }
    const update = (changes: object) =>
      send(`${management}/UpdateProject`, bytesOf(UpdateProjectRequestSchema, { id: projectId, ...changes }), asAdmin)
    expect(await checks()).toEqual([false, false, false])
    await update({ name: 'P', projectRoleAssertion: true, projectRoleCheck: true, hasProjectCheck: true })
    expect(await checks()).toEqual([true, true, true])
    await update({ name: 'Q' })
    expect(await checks()).toEqual([false, false, false])
  })

  test('violations name the fields of ZITADEL', async () => {
    const project = bytesOf(UpdateProjectRequestSchema, {})
    const asAdmin = by(admin().token, home)
    expect(facts(await send(`${management}/UpdateProject`, project, asAdmin)).code).toBe(3)
    expect(facts(await send(`${management}/UpdateProject`, project, asAdmin)).fields).toEqual(['id', 'name'])
    const person = bytesOf(AddHumanUserRequestSchema, {
      username: 'x',
      profile: { givenName: '' },
      email: { email: '?' },
    })
    const { fields } = facts(await send(`${users}/AddHumanUser`, person, asAdmin))
    expect(fields).toEqual(['profile.givenName', 'profile.familyName', 'email.email'])
    const search = bytesOf(ListOrgsRequestSchema, {
      queries: [{ query: { case: 'nameQuery', value: { name: '', method: 1 } } }],
    })
    const orgs = await send('/zitadel.admin.v1.AdminService/ListOrgs', search, asAdmin)
    expect(facts(orgs).fields).toEqual(['queries.nameQuery.name'])
  })

  test('two filters that would be one in Roster are refused', async () => {
    const named = (name: string) => ({ query: { case: 'nameQuery' as const, value: { name } } })
    const bytes = bytesOf(ListOrgsRequestSchema, { queries: [named('a'), named('b')] })
    const sent = await send('/zitadel.admin.v1.AdminService/ListOrgs', bytes, by(admin().token))
    expect(facts(sent)).toEqual({ code: 3, reason: 'FIELD_UNSUPPORTED', fields: ['queries[1].nameQuery.name'] })
  })

  test('a filter by nothing does not find everything', async () => {
    for (const value of [{}, { name: '' }, undefined]) {
      const query = value ? { query: { case: 'nameQuery' as const, value } } : {}
      const bytes = bytesOf(ListOrgsRequestSchema, { queries: [query] })
      const sent = await send('/zitadel.admin.v1.AdminService/ListOrgs', bytes, by(admin().token))
      expect(facts(sent)).toEqual({ code: 3, reason: 'FIELD_UNSUPPORTED', fields: ['queries[0]'] })
    }
  })

  test('the organization of the request is the acting one, and no other than that of the header', async () => {
    const person = (orgId: string) =>
      bytesOf(AddHumanUserRequestSchema, {
        organization: { org: { case: 'orgId', value: orgId } },
        profile: { givenName: 'A', familyName: 'L' },
        email: { email: uniqueEmail(), verification: { case: 'isVerified', value: true } },
      })
    const path = `${users}/AddHumanUser`
    const { bytes } = await send(path, person(foreign), by(admin().token))
    const { userId } = fromBinary(AddHumanUserResponseSchema, bytes!)
    expect((await getUser(userId)).organizationId).toBe(foreign)
    expect(facts(await send(path, person(foreign), by(manager.token))).code).toBe(7)
    expect(facts(await send(path, person('unknown'), by(manager.token))).code).toBe(7)
    expect(facts(await send(path, person(foreign), by(admin().token, home)))).toEqual({
      code: 3,
      reason: 'ORGANIZATION_AMBIGUOUS',
      fields: ['organization.orgId'],
    })
  })

  test('CreateUser means what its last member says', async () => {
    const machineMember = field(5, field(1, 'Robot'))
    const both = Buffer.concat([
      bytesOf(CreateUserRequestSchema, {
        organizationId: home,
        username: unique('both'),
        userType: {
          case: 'human',
          value: { profile: { givenName: 'A', familyName: 'L' }, email: { email: uniqueEmail() } },
        },
      }),
      machineMember,
    ])
    const { bytes } = await send(`${users}/CreateUser`, both, by(manager.token))
    const { id } = fromBinary(CreateUserResponseSchema, bytes!)
    expect((await getUser(id)).machine.name).toBe('Robot')
  })

  test('a path that leads nowhere says so', async () => {
    for (const [path, text] of [
      [`${management}/ListActions`, 'Roster has no equal of zitadel.management.v1.ManagementService/ListActions.'],
      [
        '/zitadel.feature.v2.FeatureService/GetSystemFeatures',
        'Roster has no equal of zitadel.feature.v2.FeatureService/GetSystemFeatures.',
      ],
      [`${management}/Authenticate`, 'Roster has no equal of zitadel.management.v1.ManagementService/Authenticate.'],
      [`${management}/AddMachineUser/x`, 'There is no such method.'],
      ['/zitadel.management.v1.ManagementService', 'There is no such method.'],
      ['/elsewhere.v1.Service/Get', 'There is no such method.'],
    ]) {
      const { error } = await send(path!, new Uint8Array(), by(admin().token))
      expect([path, error?.code, error?.message]).toEqual([path, 12, text])
    }
  })
})

test('a password must change as ZITADEL has it, by each method that sets one', async () => {
  const [, send] = ways[0]!
  const password = 'Handed-Over-1'
  const own = {
    profile: { givenName: 'A', familyName: 'L' },
    email: { email: '', verification: { case: 'isVerified', value: true } },
  } as const
  const v2 = (changeRequired: boolean) => {
    const email = { ...own.email, email: uniqueEmail() }
    const passwordType = { case: 'password', value: { password, changeRequired } } as const
    return { ...own, email, passwordType }
  }
  const user2 = (changeRequired: boolean) =>
    ({ organizationId: home, userType: { case: 'human', value: v2(changeRequired) } }) as const
  const idOf = ({ bytes }: Sent) => fromBinary(CreateUserResponseSchema, bytes!).id
  const mustChange = async (userId: string) => {
    const { human } = (await getUser(userId)) as { human: { passwordChangeRequired?: boolean } }
    return human.passwordChangeRequired === true
  }
  const sent: [boolean, string, Uint8Array][] = [
    [true, `${users}/AddHumanUser`, bytesOf(AddHumanUserRequestSchema, v2(true))],
    [false, `${users}/AddHumanUser`, bytesOf(AddHumanUserRequestSchema, v2(false))],
    [true, `${users}/CreateUser`, bytesOf(CreateUserRequestSchema, user2(true))],
    [true, `${management}/AddHumanUser`, bytesOf(AddHumanV1, { ...human(unique('h')), initialPassword: password })],
    [
      true,
      `${management}/ImportHumanUser`,
      bytesOf(ImportHumanUserRequestSchema, { ...human(unique('h')), password, passwordChangeRequired: true }),
    ],
    [
      false,
      `${management}/ImportHumanUser`,
      bytesOf(ImportHumanUserRequestSchema, { ...human(unique('h')), password }),
    ],
  ]
  const userIds: string[] = []
  for (const [expected, path, bytes] of sent) {
    const userId = idOf(await send(path, bytes, by(manager.token)))
    userIds.push(userId)
    expect([path, await mustChange(userId)]).toEqual([path, expected])
  }
  const set = async (more: { noChangeRequired?: boolean }) => {
    const bytes = bytesOf(SetHumanPasswordRequestSchema, { userId: userIds[0]!, password, ...more })
    expect(facts(await send(`${management}/SetHumanPassword`, bytes, by(manager.token))).code).toBe(0)
    return mustChange(userIds[0]!)
  }
  expect([await set({ noChangeRequired: true }), await set({})]).toEqual([false, true])
})

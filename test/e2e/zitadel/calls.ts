import { expect } from 'vitest'
import { unique, uniqueEmail } from '../../examples/people.ts'
import type { ClientKind, Clients } from './clients.ts'

/** The objects of the calls. A call finds here the ids that the calls before it left. */
export interface World {
  kind: ClientKind
  /** As the machine administrator, in `organization`. */
  admin: Clients
  /** As a human of it. */
  human: Clients
  humanId: string
  organization: string
  /** An organization that takes a grant of the project. */
  guest: string
  idpId: string
  organizationIdpId: string
  ids: Record<string, string>
}

/** A call that a client makes, and a check of its answer. */
export interface Call {
  service: keyof Clients
  method: string
  run(world: World): Promise<void>
}

const text = expect.stringMatching(/./)
// The client of ts-proto has dates and numbers, that of protobuf-es messages and bigints.
const done = { details: expect.objectContaining({ resourceOwner: text, changeDate: expect.anything() }) }
const query = { query: { limit: 1000, asc: true } }

function call(service: keyof Clients, method: string, run: Call['run']): Call {
  return { service, method, run }
}

function step(
  service: 'management' | 'admin' | 'auth' | 'user',
  method: string,
  request: (world: World) => object,
  check: (answer: any, world: World) => void = (answer) => expect(answer).toMatchObject(done),
): Call {
  return call(service, method, async (world) => {
    check(await world.admin[service][method]!(request(world)), world)
  })
}

const keep = (name: string, field: string) => (answer: any, world: World) => {
  expect(answer).toMatchObject({ [field]: text })
  world.ids[name] = answer[field]
}

const has = (field: string, expected: (world: World) => object) => (answer: any, world: World) =>
  expect(answer[field]).toMatchObject(expected(world))

const lists = (expected: (world: World) => object) => (answer: any, world: World) => {
  expect(answer.result).toContainEqual(expect.objectContaining(expected(world)))
  expect(Number(answer.details.totalResult)).toBeGreaterThanOrEqual(answer.result.length)
}

/** The five operations of the specification. */
export const fiveCalls: Call[] = [
  call('auth', 'updateMyProfile', async ({ human }) => {
    const request = { firstName: 'Zoë', lastName: 'O’Neill', displayName: 'Zoë 𝒜', gender: 3 }
    expect(await human.auth['updateMyProfile']!(request)).toMatchObject(done)
    const { profile } = await human.auth['getMyProfile']!({})
    expect(profile).toMatchObject({ firstName: 'Zoë', lastName: 'O’Neill', displayName: 'Zoë 𝒜', gender: 3 })
  }),
  step('admin', 'updateIDP', ({ idpId }) => ({ idpId, name: unique('idp'), stylingType: 1, autoRegister: true })),
  step(
    'management',
    'addMachineUser',
    () => ({ userName: unique('machine'), name: 'Robot', accessTokenType: 1 }),
    (answer, world) => {
      expect(answer.details.resourceOwner).toBe(world.organization)
      keep('machine', 'userId')(answer, world)
    },
  ),
  step(
    'user',
    'setEmail',
    ({ kind, humanId }) => ({ userId: humanId, email: uniqueEmail(), ...kind.oneof('verification', 'returnCode', {}) }),
    (answer, { organization }) => {
      expect(answer.verificationCode).toMatch(/^[2-9A-HJ-NP-Z]{6}$/)
      expect(answer.details).toMatchObject({ resourceOwner: organization, changeDate: expect.anything() })
      expect(answer.details.creationDate).toBeUndefined()
    },
  ),
  step(
    'management',
    'addUserGrant',
    ({ humanId, ids }) => ({ userId: humanId, projectId: ids['project'], roleKeys: ['reader'] }),
    keep('grant', 'userGrantId'),
  ),
]

const human = () => ({
  userName: unique('human'),
  profile: { firstName: 'Ada', lastName: 'Lovelace', displayName: 'Ada', preferredLanguage: 'en' },
  email: { email: uniqueEmail(), isEmailVerified: true },
})
const humanV2 = ({ kind }: World) => ({
  profile: { givenName: 'Ada', familyName: 'Lovelace' },
  email: { email: uniqueEmail(), ...kind.oneof('verification', 'isVerified', true) },
})
const user = ({ ids }: World) => ({ userId: ids['human'] })
const id =
  (name: string) =>
  ({ ids }: World) => ({ id: ids[name] })
const project = ({ ids }: World) => ({ projectId: ids['project'] })
const grant = ({ humanId, ids }: World) => ({ userId: humanId, grantId: ids['grant'] })
const projectGrant = ({ ids }: World) => ({ projectId: ids['project'], grantId: ids['projectGrant'] })

/** Projects and roles, which the grant of the five needs. */
export const projectCalls: Call[] = [
  step('management', 'addProject', () => ({ name: unique('project') }), keep('project', 'id')),
  step('management', 'getProjectByID', id('project'), has('project', id('project'))),
  step('management', 'updateProject', (world) => ({ ...id('project')(world), name: unique('project') })),
  step('management', 'listProjects', () => query, lists(id('project'))),
  step('management', 'addProjectRole', (world) => ({ ...project(world), roleKey: 'reader', displayName: 'Reader' })),
  step('management', 'bulkAddProjectRoles', (world) => ({
    ...project(world),
    roles: ['writer', 'x'].map((key) => ({ key, displayName: key })),
  })),
  step('management', 'updateProjectRole', (world) => ({ ...project(world), roleKey: 'writer', displayName: 'Writer' })),
  step('management', 'removeProjectRole', (world) => ({ ...project(world), roleKey: 'x' })),
  step(
    'management',
    'listProjectRoles',
    (world) => ({ ...project(world), ...query }),
    lists(() => ({ key: 'reader' })),
  ),
]

/** The life of users, organizations, members and grants. */
export const lifeCalls: Call[] = [
  step(
    'management',
    'getUserGrantByID',
    grant,
    has('userGrant', ({ ids }) => ({ id: ids['grant'], roleKeys: ['reader'] })),
  ),
  step('management', 'listUserGrants', () => query, lists(id('grant'))),
  step('management', 'updateUserGrant', (world) => ({ ...grant(world), roleKeys: ['reader', 'writer'] })),
  step('management', 'deactivateUserGrant', grant),
  step('management', 'reactivateUserGrant', grant),
  call('auth', 'listMyUserGrants', async (world) => {
    const answer = await world.human.auth['listMyUserGrants']!(query)
    lists(({ ids }) => ({ grantId: ids['grant'] }))(answer, world)
  }),
  step('management', 'removeUserGrant', grant),
  step(
    'management',
    'addProjectGrant',
    (world) => ({ ...project(world), grantedOrgId: world.guest, roleKeys: ['reader'] }),
    keep('projectGrant', 'grantId'),
  ),
  step(
    'management',
    'getProjectGrantByID',
    projectGrant,
    has('projectGrant', ({ guest }) => ({ grantedOrgId: guest })),
  ),
  step(
    'management',
    'listProjectGrants',
    (world) => ({ ...project(world), ...query }),
    lists(({ guest }) => ({ grantedOrgId: guest })),
  ),
  step('management', 'updateProjectGrant', (world) => ({ ...projectGrant(world), roleKeys: ['reader', 'writer'] })),
  step('management', 'removeProjectGrant', projectGrant),
  call('user', 'createUser', async (world) => {
    const { kind, organization, admin } = world
    const person = kind.oneof('userType', 'human', humanV2(world))
    const robot = kind.oneof('userType', 'machine', { name: 'Robot' })
    keep('created', 'id')(await admin.user['createUser']!({ organizationId: organization, ...person }), world)
    const machine = { organizationId: organization, username: unique('machine'), ...robot }
    keep('created', 'id')(await admin.user['createUser']!(machine), world)
  }),
  call('user', 'addHumanUser', async (world) => {
    const organization = world.kind.oneof('org', 'orgId', world.guest)
    const answer = await world.admin.user['addHumanUser']!({ ...humanV2(world), organization }).catch((error) => {
      // The header names another organization than the request.
      expect(error.message).toMatch(/names another organization/)
      return world.admin.user['addHumanUser']!(humanV2(world))
    })
    keep('human', 'userId')(answer, world)
  }),
  step('management', 'addHumanUser', human, keep('human', 'userId')),
  step('management', 'importHumanUser', human, keep('human', 'userId')),
  step('user', 'getUserByID', user, (answer, world) => {
    expect(answer.user).toMatchObject({ ...user(world), state: 1 })
    expect(answer.details).toMatchObject({ resourceOwner: world.organization, creationDate: expect.anything() })
  }),
  step('management', 'getUserByID', id('human'), has('user', id('human'))),
  step('user', 'listUsers', () => query, lists(user)),
  step('management', 'listUsers', () => query, lists(id('human'))),
  step('management', 'updateUserName', (world) => ({ ...user(world), userName: unique('renamed') })),
  step('management', 'updateHumanProfile', (world) => ({
    ...user(world),
    firstName: 'A',
    lastName: 'L',
    displayName: 'AL',
  })),
  step('management', 'updateHumanEmail', (world) => ({ ...user(world), email: uniqueEmail(), isEmailVerified: true })),
  step('user', 'setPassword', (world) => ({ ...user(world), newPassword: { password: 'Secret-Password1!' } })),
  step('user', 'passwordReset', (world) => ({ ...user(world), ...world.kind.oneof('medium', 'returnCode', {}) })),
  step('user', 'deactivateUser', user),
  step('user', 'reactivateUser', user),
  step('user', 'lockUser', user),
  step('user', 'unlockUser', user),
  call('session', 'createSession', async ({ admin, ids, kind }) => {
    const { user: found } = await admin.management['getUserByID']!({ id: ids['human'] })
    const checks = {
      user: kind.oneof('search', 'loginName', found.preferredLoginName),
      password: { password: 'Secret-Password1!' },
    }
    const { sessionId, sessionToken } = await admin.session['createSession']!({ checks })
    expect(sessionToken).toMatch(/./)
    ids['session'] = sessionId
  }),
  call('session', 'deleteSession', async ({ admin, ids }) => {
    await admin.session['deleteSession']!({ sessionId: ids['session'] })
  }),
  step('management', 'updateMachine', ({ ids }) => ({ userId: ids['machine'], name: 'Robot 2', description: 'x' })),
  step('management', 'addMachineKey', ({ ids }) => ({ userId: ids['machine'], type: 1 }), keep('key', 'keyId')),
  step('management', 'listMachineKeys', ({ ids }) => ({ userId: ids['machine'] }), lists(id('key'))),
  step('management', 'removeMachineKey', ({ ids }) => ({ userId: ids['machine'], keyId: ids['key'] })),
  step('management', 'addPersonalAccessToken', ({ ids }) => ({ userId: ids['machine'] }), keep('pat', 'tokenId')),
  step('management', 'listPersonalAccessTokens', ({ ids }) => ({ userId: ids['machine'] }), lists(id('pat'))),
  step('management', 'removePersonalAccessToken', ({ ids }) => ({ userId: ids['machine'], tokenId: ids['pat'] })),
  ...members('management', 'Org', () => ({}), 'ORG_OWNER_VIEWER'),
  ...members('management', 'Project', project, 'PROJECT_OWNER_VIEWER'),
  ...members('admin', 'IAM', () => ({}), 'IAM_OWNER_VIEWER'),
  step('management', 'updateOrgIDP', ({ organizationIdpId }) => ({ idpId: organizationIdpId, name: unique('idp') })),
  step(
    'management',
    'listOrgIDPs',
    () => query,
    lists(({ organizationIdpId }) => ({ id: organizationIdpId })),
  ),
  step(
    'admin',
    'getIDPByID',
    ({ idpId }) => ({ id: idpId }),
    has('idp', ({ idpId }) => ({ id: idpId })),
  ),
  step(
    'admin',
    'listIDPs',
    () => query,
    (answer) => expect(answer.result.length).toBeGreaterThan(0),
  ),
  step('management', 'addOrg', () => ({ name: unique('Organization') }), keep('org', 'id')),
  step(
    'management',
    'getMyOrg',
    () => ({}),
    has('org', ({ organization }) => ({ id: organization })),
  ),
  step('management', 'updateOrg', () => ({ name: unique('Organization') })),
  step('admin', 'getOrgByID', id('org'), has('org', id('org'))),
  step(
    'admin',
    'listOrgs',
    () => ({ query: { limit: 5 } }),
    (answer) => expect(answer.result.length).toBeGreaterThan(1),
  ),
  call('org', 'listOrganizations', async ({ admin }) => {
    expect((await admin.org!['listOrganizations']!({})).result.length).toBeGreaterThan(1)
  }),
  step('admin', 'removeOrg', ({ ids }) => ({ orgId: ids['org'] })),
  call('auth', 'getMyUser', async ({ human, humanId }) => {
    expect((await human.auth['getMyUser']!({})).user).toMatchObject({ id: humanId })
  }),
  step(
    'auth',
    'listMyZitadelPermissions',
    () => ({}),
    (answer) => expect(answer.result).toContain('user.read'),
  ),
  step('management', 'removeUser', id('human')),
  step('user', 'deleteUser', ({ ids }) => ({ userId: ids['machine'] })),
  step('management', 'removeProject', id('project')),
  step('management', 'listApps', project, () => {}),
]

function members(service: 'management' | 'admin', of: string, where: (world: World) => object, role: string): Call[] {
  const who = (world: World) => ({ ...where(world), userId: world.humanId })
  return [
    step(service, `add${of}Member`, (world) => ({ ...who(world), roles: [role] })),
    step(
      service,
      `list${of}Members`,
      (world) => ({ ...where(world), ...query }),
      lists(({ humanId }) => ({ userId: humanId })),
    ),
    step(service, `update${of}Member`, (world) => ({ ...who(world), roles: [role] })),
    step(service, `remove${of}Member`, who),
  ]
}

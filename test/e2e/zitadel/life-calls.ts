import { expect } from 'vitest'
import { unique, uniqueEmail } from '../../examples/people.ts'
import { call, type Call, has, id, keep, lists, project, query, step, type World } from './step.ts'

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
const grant = ({ humanId, ids }: World) => ({ userId: humanId, grantId: ids['grant'] })
const app = ({ ids }: World) => ({ projectId: ids['project'], appId: ids['app'] })
const oidcApp = (world: World) => ({
  ...project(world),
  name: unique('app'),
  redirectUris: ['https://app.example.com/'],
  responseTypes: [0],
  grantTypes: [0, 2],
  appType: 0,
  authMethodType: 0,
  version: 0,
})
const projectGrant = ({ ids }: World) => ({ projectId: ids['project'], grantId: ids['projectGrant'] })

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
  step('user', 'createInviteCode', (world) => ({
    ...user(world),
    ...world.kind.oneof('verification', 'sendCode', {}),
  })),
  step('user', 'resendInviteCode', user),
  call('user', 'verifyInviteCode', async (world) => {
    const request = { ...user(world), ...world.kind.oneof('verification', 'returnCode', {}) }
    const { inviteCode } = await world.admin.user['createInviteCode']!(request)
    const verified = await world.admin.user['verifyInviteCode']!({ ...user(world), verificationCode: inviteCode })
    expect(verified.details).toBeDefined()
  }),
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
  step(
    'management',
    'getMachineKeyByIDs',
    ({ ids }) => ({ userId: ids['machine'], keyId: ids['key'] }),
    has('key', id('key')),
  ),
  step('management', 'removeMachineKey', ({ ids }) => ({ userId: ids['machine'], keyId: ids['key'] })),
  step('management', 'addPersonalAccessToken', ({ ids }) => ({ userId: ids['machine'] }), keep('pat', 'tokenId')),
  step('management', 'listPersonalAccessTokens', ({ ids }) => ({ userId: ids['machine'] }), lists(id('pat'))),
  step(
    'management',
    'getPersonalAccessTokenByIDs',
    ({ ids }) => ({ userId: ids['machine'], tokenId: ids['pat'] }),
    has('token', id('pat')),
  ),
  step('management', 'removePersonalAccessToken', ({ ids }) => ({ userId: ids['machine'], tokenId: ids['pat'] })),
  step(
    'management',
    'generateMachineSecret',
    ({ ids }) => ({ userId: ids['machine'] }),
    keep('secret', 'clientSecret'),
  ),
  step('management', 'removeMachineSecret', ({ ids }) => ({ userId: ids['machine'] })),
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
    'getDefaultOrg',
    () => ({}),
    has('org', () => ({ id: 'default' })),
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
    const queries = [{ query: { case: 'defaultQuery', value: {} } }]
    expect((await admin.org!['listOrganizations']!({ queries })).result.map(({ id }: any) => id)).toEqual(['default'])
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
  step('management', 'addOIDCApp', oidcApp, (answer, world) => {
    expect(answer.clientSecret).toMatch(/./)
    keep('client', 'clientId')(answer, world)
    keep('app', 'appId')(answer, world)
  }),
  step(
    'management',
    'getAppByID',
    app,
    has('app', ({ ids, kind }) => {
      const config = { clientId: ids['client'], redirectUris: ['https://app.example.com/'], grantTypes: [0, 2] }
      return { id: ids['app'], state: 1, ...kind.oneof('config', 'oidcConfig', expect.objectContaining(config)) }
    }),
  ),
  step('management', 'listApps', (world) => ({ ...project(world), ...query }), lists(id('app'))),
  step('management', 'updateApp', (world) => ({ ...app(world), name: unique('app') })),
  step('management', 'updateOIDCAppConfig', (world) => ({ ...app(world), redirectUris: ['https://app.example.com/'] })),
  step('management', 'regenerateOIDCClientSecret', app, (answer) => expect(answer.clientSecret).toMatch(/./)),
  step('management', 'deactivateApp', app),
  step('management', 'reactivateApp', app),
  step(
    'management',
    'addAPIApp',
    (world) => ({ ...project(world), name: unique('api'), authMethodType: 0 }),
    keep('app', 'appId'),
  ),
  step('management', 'regenerateAPIClientSecret', app, (answer) => expect(answer.clientSecret).toMatch(/./)),
  step('management', 'updateAPIAppConfig', (world) => ({ ...app(world), authMethodType: 1 })),
  step('management', 'addAppKey', (world) => ({ ...app(world), type: 1 }), keep('appKey', 'id')),
  step('management', 'listAppKeys', app, lists(id('appKey'))),
  step('management', 'removeAppKey', (world) => ({ ...app(world), keyId: world.ids['appKey'] })),
  step('management', 'removeApp', app),
  step('management', 'removeUser', id('human')),
  step('user', 'deleteUser', ({ ids }) => ({ userId: ids['machine'] })),
  step('management', 'removeProject', id('project')),
  step(
    'management',
    'listActions',
    () => ({}),
    () => {},
  ),
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

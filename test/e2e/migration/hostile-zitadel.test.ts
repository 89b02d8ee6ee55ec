import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { OrganizationState } from '@zitadel/proto/zitadel/org/v2/org_pb'
import { UserState } from '@zitadel/proto/zitadel/user/v2/user_pb'
import { UserGrantState } from '@zitadel/proto/zitadel/user_pb'
import { admin, getUser, newHuman, newMember, newOrganization, ok, unique } from '../../examples/people.ts'
import { newProject } from '../../examples/projects.ts'
import { call } from '../clients/encodings.ts'
import { type Ended, runMigration } from './run-migration.ts'
import { idsFrom, noData, type ZitadelData } from './zitadel-data.ts'
import { startZitadel, zitadelToken } from './zitadel-fake.ts'

const newId = idsFrom(Date.now() + 1)
const good = newId()
const escape = '\u001b[2J\u202e\n'
let data: ZitadelData
let zitadel: Awaited<ReturnType<typeof startZitadel>>
const victimsName = unique('Victims')
let victims: string
let victim: Awaited<ReturnType<typeof newHuman>>
let foreignProject: string
let ended: Ended

const organization = (id: string, name: string) => ({ id, name, state: OrganizationState.ACTIVE })
const human = (userId: string, username: string, email = `${userId}@example.com`, resourceOwner = good) => ({
  userId,
  username,
  state: UserState.ACTIVE,
  details: { resourceOwner },
  type: {
    case: 'human' as const,
    value: {
      profile: { givenName: 'A', familyName: 'B', preferredLanguage: 'nonsense_' },
      email: { email, isVerified: true },
    },
  },
})
const [unseen, turned] = [newId(), newId()]
const [first, second, third, long, broken, sameMail, project] = seven(newId)

/** Gives some of the victim, which must be the same afterwards. */
async function stateOf() {
  return [
    await getUser(victim.userId),
    ok(await call('GetOrganization', { orgId: victims }, admin())).organization,
    ok(await call('GetUser', { userId: 'admin' }, admin())).user,
    ok(await call('GetOrganization', { orgId: 'default' }, admin())).organization,
    ok(await call('SearchMyGrants', {}, { token: inject('roster').adminToken })),
  ]
}
let before: unknown[]

function seven<Item>(make: () => Item): [Item, Item, Item, Item, Item, Item, Item] {
  return [make(), make(), make(), make(), make(), make(), make()]
}

beforeAll(async () => {
  victims = await newOrganization(victimsName)
  victim = await newHuman(victims)
  foreignProject = await newProject(victims, ['reader'])
  const grant = (userId: string, projectId: string, roleKeys = ['reader'], id = newId()) => ({
    id,
    userId,
    projectId,
    orgId: good,
    roleKeys,
    state: UserGrantState.ACTIVE,
  })
  data = {
    ...noData(),
    organizations: [
      organization('default', 'Default'),
      organization('roster', 'Instance'),
      organization('__proto__', 'Prototype'),
      organization(victims, victimsName),
      organization(good, 'Good'),
      organization(good, 'Twice'),
      organization(newId(), 'Nul\u0000'),
      organization(turned, 'Bank \u202emoc.live'),
    ],
    users: [
      human('admin', 'admin'),
      human('admin-machine', 'admin-machine'),
      human(victim.userId, victim.userName),
      human(first, 'first'),
      human(first, 'second of one id'),
      human(second, 'ＦＩＲＳＴ'),
      human(third, 'third'),
      human(unseen, `unseen${escape}`),
      human(long, 'x'.repeat(100_000)),
      human(broken, 'broken', 'no address'),
      human(sameMail, 'same-mail', victim.email),
      human('in-victims', 'in-victims', 'a@example.com', victims),
    ],
    projects: [{ id: project, name: 'P', details: { resourceOwner: good } }],
    roles: { [project]: [{ key: 'reader', displayName: '' }, { key: 'k'.repeat(300) }, { key: 're\u200bader' }] },
    projectGrants: [
      {
        grantId: newId(),
        projectId: project,
        grantedOrgId: victims,
        grantedRoleKeys: ['reader'],
        projectOwnerId: good,
      },
    ],
    userGrants: [
      grant('admin', project),
      grant(victim.userId, project),
      grant(first, foreignProject),
      grant(first, project, ['reader', 'no-such']),
      grant(
        first,
        project,
        Array.from({ length: 300 }, (_, n) => `r${n}`),
      ),
      grant(third, project),
    ],
    members: {
      [good]: [
        { userId: victim.userId, roles: ['ORG_OWNER'] },
        { userId: first, roles: ['IAM_OWNER', '__proto__'] },
        { userId: third, roles: ['ORG_OWNER'] },
      ],
      '': [{ userId: third, roles: ['IAM_OWNER'] }],
    },
  }
  zitadel = await startZitadel(data)
  before = await stateOf()
  const { userId, token } = await newMember(await newOrganization(), [])
  // This caller lacks what concerns the instance alone.
  ok(await call('AddInstanceMember', { userId, roles: ['IAM_ORG_MANAGER'] }, admin()))
  ended = await runMigration(zitadel.url, ['--run', '--instance-members'], { token })
})
afterAll(() => zitadel.stop())

/** Why something was not moved. */
function why(kind: string, id: string): string[] {
  const start = `not moved: ${kind} "${id}`
  return ended.out.filter((line) => line.startsWith(start)).map((line) => line.slice(line.indexOf('": ') + 3))
}

describe('a hostile ZITADEL', { timeout: 120_000 }, () => {
  test('overwrites nothing, and the run goes on to its end', async () => {
    expect(ended.status).toBe(1)
    expect(ended.out.at(-1)).toMatch(/^not looked at: /)
    expect(await stateOf()).toEqual(before)
  })

  test.each([
    ['default', 'Roster keeps the id for itself'],
    ['roster', 'Roster keeps the id for itself'],
    ['__proto__', 'orgId must be 1 to 200 of'],
  ])('does not become the organization %s', (id, text) =>
    expect(why('organization', id)).toEqual([expect.stringContaining(text)]),
  )

  test('does not get into an organization that was here before', async () => {
    expect(why('organization', victims)).toEqual([
      expect.stringMatching(/^Roster has the organization ".*" under this id/),
    ])
    const { users } = ok(await call('SearchUsers', {}, admin(victims)))
    expect(users.map(({ userId }: any) => userId)).toEqual([victim.userId])
    const { grantedProjects = [] } = ok(await call('SearchGrantedProjects', {}, admin(victims)))
    expect(grantedProjects).toEqual([])
  })

  test('brings no name that its readers would not see as it is', () => {
    expect(why('organization', turned)).toEqual([expect.stringMatching(/^name must not hold a character .* U\+202E/)])
    expect(why('user', unseen)).toEqual([expect.stringMatching(/^userName must not hold .* U\+001B$/)])
    expect(why('role', `${project} re\\u{200b}ader`)).toEqual([expect.stringMatching(/^key must not hold .* U\+200B$/)])
  })

  test('gets those users alone that collide with no one', async () => {
    const another = ['another user of Roster has this id']
    expect(why('user', 'admin"')).toEqual(another)
    expect(why('user', 'admin-machine')).toEqual(another)
    expect(why('user', victim.userId)).toEqual(another)
    expect(why('user', first)).toEqual(another)
    expect(why('user', second)).toEqual([expect.stringContaining('USER_NAME_TAKEN')])
    expect(why('user', unseen)).toEqual([expect.stringContaining('userName')])
    expect(why('user', long)).toEqual([expect.stringContaining('userName')])
    expect(why('user', broken)).toEqual([expect.stringContaining('email.email')])
    const { users } = ok(await call('SearchUsers', {}, admin(good)))
    expect(users.map(({ userId }: any) => userId)).toEqual([first, third, sameMail])
  })

  test('gives a user with the address of another nothing of the other', async () => {
    expect(await getUser(sameMail)).toMatchObject({ organizationId: good, human: { email: { email: victim.email } } })
    expect((await getUser(victim.userId)).organizationId).toBe(victims)
  })

  test('gives roles only to users that it brought', async () => {
    const { userGrants } = ok(await call('SearchUserGrants', {}, admin(good)))
    expect(userGrants.map(({ userId }: any) => userId)).toEqual([third])
    expect(ended.out.filter((line) => line.startsWith('not moved: user grant '))).toHaveLength(5)
    const { members } = ok(await call('SearchOrganizationMembers', {}, admin(good)))
    expect(members.map(({ userId }: any) => userId)).toEqual([third])
    expect(why('member', `${good} ${victim.userId}`)).toEqual([expect.stringContaining('another user of Roster')])
    expect(why('member', `${good} ${first}`)).toHaveLength(2)
  })

  test('gives no one a role above those of the caller', async () => {
    expect(why('member', `instance ${third}`)).toEqual([expect.stringContaining('PERMISSION_DENIED')])
    expect(ok(await call('SearchInstanceMembers', { userId: third }, admin())).members ?? []).toEqual([])
  })

  test('writes no symbols into the terminal, and no token is ever printed', () => {
    const lines = [...ended.out, ...ended.said]
    for (const line of lines) {
      expect(line).not.toMatch(/[\p{C}\p{Zl}\p{Zp}]/u)
      expect(line.length).toBeLessThan(1000)
      expect(line).not.toContain(zitadelToken)
      expect(line).not.toContain(inject('roster').adminToken)
    }
  })

  test('ends the run where a list does not end', async () => {
    const endless = await startZitadel(
      { ...noData(), organizations: [organization(newId(), unique('Endless'))], users: [human('1', 'u')] },
      { endless: true },
    )
    const { status, said } = await runMigration(endless.url, ['--most', '2000'])
    await endless.stop()
    expect(said.at(-1)).toContain('A list of ZITADEL has more than 2000 objects')
    expect(status).toBe(2)
  })

  test.each([
    ['ZITADEL', { zitadelToken: 'no-token' }],
    ['Roster', { token: 'no-token' }],
  ])('with a token that %s refuses, the run ends at once and says so', async (side, tokens) => {
    const { status, said } = await runMigration(zitadel.url, ['--run'], tokens)
    expect(said.at(-1)).toContain(`Ended early: ${side} refuses the token: `)
    expect(status).toBe(2)
  })
})

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Operation } from '../../examples/contract.ts'
import { admin, ok } from '../../examples/people.ts'
import { factsOf } from '../clients/call.ts'
import { call } from '../clients/encodings.ts'
import { asRosterShows } from './as-roster-shows.ts'
import { runMigration } from './run-migration.ts'
import { idsFrom, largeData, sizes } from './zitadel-data.ts'
import { startZitadel } from './zitadel-fake.ts'

const started = Date.now()
const name = `Moved${started.toString(36)}`
const newId = idsFrom(started)
const data = largeData(newId, name)
const { organizations, users, projects, projectGrants, userGrants } = data
const homes = organizations.map(({ id }) => id!)
let zitadel: Awaited<ReturnType<typeof startZitadel>>
let folder: string

beforeAll(async () => {
  zitadel = await startZitadel(data, { busy: 2 })
  folder = await mkdtemp(join(tmpdir(), 'roster-migration-'))
})
afterAll(async () => {
  await zitadel.stop()
  await rm(folder, { recursive: true })
})

const inactive = [organizations, projects, projectGrants, userGrants].flat().filter(({ state }) => state === 2).length
const shutOut = users.filter(({ state }) => state !== 1).length
const verified = users.filter(({ type }) => type?.case === 'human' && type.value.email?.isVerified).length

/** The counts of a run: `each` says what became of those objects that are moved. */
function countsOf(each: (number: number) => string) {
  return [
    `organization: ${each(6)}, 0 not moved`,
    `user: ${each(sizes.users)}, 0 not moved`,
    `project: ${each(50)}, 0 not moved`,
    `role: ${each(200)}, 0 not moved`,
    `project grant: ${each(25)}, 0 not moved`,
    `user grant: ${each(sizes.userGrants)}, 0 not moved`,
    // Six members have a role that Roster does not know, beside one that it knows.
    `member: ${each(15)}, 6 not moved`,
    `identity provider: ${each(2)}, 1 not moved`,
    `state: ${each(inactive + shutOut)}, 0 not moved`,
    `verified address: ${each(verified)}, 0 not moved`,
  ]
}

const counts = (out: string[]) => out.filter((line) => / there already, /.test(line))

describe('the migration from ZITADEL', { timeout: 120_000 }, () => {
  test('a dry run says what it would move and changes nothing', async () => {
    const { status, out, said } = await runMigration(zitadel.url, [])
    expect(said[0]).toBe('A dry run: nothing is changed.')
    expect(counts(out)).toEqual(countsOf((number) => `${number} to move, 0 there already`))
    expect(status).toBe(1)
    for (const orgId of homes)
      expect(factsOf(await call('GetOrganization', { orgId }, admin())).reason).toBe('ORGANIZATION_NOT_FOUND')
    expect(ok(await call('SearchIDPs', { name: `${name} JWT of all` }, admin())).idps ?? []).toEqual([])
  })

  test('a run that is killed in three of its steps and called again moves the rest', async () => {
    const killed = [
      { line: / users of organization/, count: 3 },
      { line: / user grants of organization/, count: 3 },
      { line: /^addresses of /, count: 2 },
    ]
    const args = ['--run', '--state', join(folder, 'state')]
    for (const killAt of killed) expect((await runMigration(zitadel.url, args, { killAt })).status).toBe(null)
    const { status, out } = await runMigration(zitadel.url, args)
    expect(out.filter((line) => line.startsWith('not moved: '))).toEqual([
      ...homes.map((id, n) => expect.stringContaining(`member "${id} ${users[n + 6]!.userId}"`)),
      expect.stringContaining(`OIDC": ZITADEL does not return its secret`),
    ])
    expect(status).toBe(1)
  })

  test('every organization is there under its id, with its name, domain and state', async () => {
    for (const wanted of organizations) {
      const { organization } = ok(await call('GetOrganization', { orgId: wanted.id! }, admin()))
      expect(organization).toMatchObject(asRosterShows.organization(wanted))
    }
  })

  test('every user is there once under its id, with profile, address and state', async () => {
    for (const home of homes)
      same(
        await all('SearchUsers', 'users', {}, home),
        users.filter(({ details }) => details?.resourceOwner === home).map(asRosterShows.user),
        'userId',
      )
  })

  test('every project is there once under its id, with its roles, grants and state', async () => {
    for (const home of homes) {
      const own = projects.filter(({ details }) => details?.resourceOwner === home)
      same(await all('SearchProjects', 'projects', {}, home), own.map(asRosterShows.project), 'id')
      for (const { id: projectId } of own) {
        same(await all('SearchProjectRoles', 'roles', { projectId }, home), data.roles[projectId!]!, 'key')
        const grants = projectGrants.filter((grant) => grant.projectId === projectId)
        const found = await all('SearchProjectGrants', 'projectGrants', { projectId }, home)
        same(found, grants.map(asRosterShows.projectGrant), 'grantId')
      }
    }
  })

  test('every user grant is there once under its id, with its roles and state', async () => {
    for (const home of homes)
      same(
        await all('SearchUserGrants', 'userGrants', {}, home),
        userGrants.filter(({ orgId }) => orgId === home).map(asRosterShows.userGrant),
        'id',
      )
  })

  test('members have the roles that Roster knows, and no one has a role on the instance', async () => {
    for (const [n, home] of homes.entries()) {
      const wanted = [
        { userId: users[n]!.userId, roles: ['ORG_OWNER'] },
        { userId: users[n + 6]!.userId, roles: ['ORG_USER_MANAGER'] },
      ]
      same(await all('SearchOrganizationMembers', 'members', {}, home), wanted, 'userId')
    }
    const projectId = projects[0]!.id!
    const [owner, granted] = homes as [string, string]
    same(
      await all('SearchProjectMembers', 'members', { projectId }, owner),
      [
        { userId: users[12]!.userId, roles: ['PROJECT_OWNER'] },
        { userId: users[18]!.userId, roles: ['PROJECT_OWNER_VIEWER'] },
      ],
      'userId',
    )
    const ofGrant = [{ userId: users[13]!.userId, roles: ['PROJECT_GRANT_OWNER'] }]
    same(await all('SearchProjectMembers', 'members', { projectId }, granted), ofGrant, 'userId')
    expect(await all('SearchInstanceMembers', 'members', { userId: users[0]!.userId })).toEqual([])
  })

  test('a provider without a secret is there once, in its state', async () => {
    const { idps } = ok(await call('SearchIDPs', { name: `${name} JWT of all` }, admin()))
    expect(idps).toMatchObject([{ state: 'IDP_STATE_INACTIVE', jwt: { headerName: 'x-token' } }])
    const own = await all('SearchOrganizationIDPs', 'idps', {}, homes[0])
    expect(own).toMatchObject([{ name: `${name} JWT`, state: 'IDP_STATE_ACTIVE' }])
  })

  test('who had a verified address can recover a password, and no one else', async () => {
    const active = users.filter(({ state, details }) => state === 1 && details?.resourceOwner !== homes[5])
    const one = (isVerified: boolean) =>
      active.find(({ type }) => type?.case === 'human' && type.value.email?.isVerified === isVerified)!
    const reset = async (isVerified: boolean) =>
      factsOf(await call('PasswordReset', { userId: one(isVerified).userId! }, admin())).reason
    expect(await reset(true)).toBe(undefined)
    expect(await reset(false)).toBe('EMAIL_NOT_RECOVERABLE')
  })

  test('one more run finds everything there and changes nothing', async () => {
    const before = await sequences()
    const { out } = await runMigration(zitadel.url, ['--run', '--state', join(folder, 'state')])
    expect(counts(out)).toEqual(countsOf((number) => `0 moved, ${number} there already`))
    expect(await sequences()).toEqual(before)
  })

  test('a run afterwards adds what is new', async () => {
    users.push({ ...users[4]!, userId: newId(), username: 'late' })
    const { out } = await runMigration(zitadel.url, ['--run', '--state', join(folder, 'state')])
    expect(counts(out).at(1)).toBe(`user: 1 moved, ${sizes.users} there already, 0 not moved`)
  })

  test('a run that cannot know that it added the organizations leaves them alone', async () => {
    const { status, out } = await runMigration(zitadel.url, ['--run'])
    const refused = homes.map((id, n) => {
      const there = `Roster has the organization "${name} ${n}" under this id, and nothing of it is moved`
      return `not moved: organization "${id}": ${there}`
    })
    expect(out.slice(0, 6)).toEqual(refused)
    expect(counts(out).at(1)).toBe('user: 0 moved, 0 there already, 0 not moved')
    expect(status).toBe(1)
  })
})

async function sequences(): Promise<Record<string, string>> {
  const found: Record<string, string> = {}
  for (const home of homes) {
    for (const user of await all('SearchUsers', 'users', {}, home)) found[user.userId] = user.details.sequence
    for (const project of await all('SearchProjects', 'projects', {}, home))
      found[project.id] = project.details.sequence
    for (const grant of await all('SearchUserGrants', 'userGrants', {}, home)) found[grant.id] = grant.details.sequence
  }
  return found
}

/** Everything that a search finds. */
async function all(operation: Operation, field: string, request: object, organization?: string): Promise<any[]> {
  const found: any[] = []
  for (let cursor = ''; ;) {
    const page = { ...request, limit: 1000, cursor } as never
    const answer = ok(await call(operation, page, admin(organization)))
    found.push(...(answer[field] ?? []))
    if (!answer.nextCursor) return found
    cursor = answer.nextCursor
  }
}

/** Each wanted object is found once, with these fields, and no other one. */
function same(found: any[], wanted: object[], id: string): void {
  const by = (one: any, other: any) => (one[id] < other[id] ? -1 : 1)
  const [sorted, expected] = [found.toSorted(by), wanted.toSorted(by)]
  expect(sorted.map((one) => one[id])).toEqual(expected.map((one: any) => one[id]))
  expect(sorted.map((one, at) => pick(one, expected[at]!))).toEqual(expected)
}

function pick(object: any, { ...fields }: object) {
  return Object.fromEntries(Object.keys(fields).map((field) => [field, object[field]]))
}

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { admin, ok } from '../../examples/people.ts'
import type { Operation } from '../../examples/contract.ts'
import { factsOf } from '../clients/call.ts'
import { call } from '../clients/encodings.ts'
import { runMigration } from './run-migration.ts'
import { idsFrom, largeData, type ZitadelData } from './zitadel-data.ts'
import { startZitadel } from './zitadel-fake.ts'

const started = Date.now()
const name = `Moved${started.toString(36)}`
const data = largeData(idsFrom(started), name)
let zitadel: Awaited<ReturnType<typeof startZitadel>>

beforeAll(async () => {
  zitadel = await startZitadel(data, { busy: 2 })
})
afterAll(() => zitadel.stop())

/** What a line of the result counts. */
function countsOf(out: string[]): Record<string, string> {
  const lines = out.map((line) => /^([a-z ]+): (\d+ (?:moved|to move), \d+ there already, \d+ not moved)$/.exec(line))
  return Object.fromEntries(lines.flatMap((found) => (found ? [[found[1]!, found[2]!]] : [])))
}

const whole = {
  organization: '6 moved, 0 there already, 0 not moved',
  user: '1000 moved, 0 there already, 0 not moved',
  project: '50 moved, 0 there already, 0 not moved',
  role: '200 moved, 0 there already, 0 not moved',
  'project grant': '25 moved, 0 there already, 0 not moved',
  'user grant': '2000 moved, 0 there already, 0 not moved',
  // Six users have a role that Roster does not know, beside one that it knows.
  member: '15 moved, 0 there already, 6 not moved',
  'identity provider': '2 moved, 0 there already, 1 not moved',
  state: `${statesOf(data)} moved, 0 there already, 0 not moved`,
  'verified address': `${verifiedOf(data).length} moved, 0 there already, 0 not moved`,
}
const again = Object.fromEntries(
  Object.entries(whole).map(([kind, text]) => [kind, text.replace(/^(\d+) moved, 0 there/, '0 moved, $1 there')]),
)

describe('the migration from ZITADEL', { timeout: 120_000 }, () => {
  test('a dry run says what it would move and changes nothing', async () => {
    const { status, out, said } = await runMigration(zitadel.url, [])
    expect(said[0]).toBe('A dry run: nothing is changed.')
    const planned = Object.entries(whole).map(([kind, text]) => [kind, text.replace(' moved,', ' to move,')])
    expect(countsOf(out)).toEqual(Object.fromEntries(planned))
    expect(status).toBe(1)
    for (const { id } of data.organizations)
      expect(factsOf(await call('GetOrganization', { orgId: id! }, admin())).reason).toBe('ORGANIZATION_NOT_FOUND')
    const { idps = [] } = ok(await call('SearchIDPs', { name: `${name} JWT of all` }, admin()))
    expect(idps).toEqual([])
  })

  test('a run that is killed in four of its steps and called again moves everything once', async () => {
    const killed = [
      { line: / users of organization/, count: 3 },
      { line: / projects of organization/, count: 2 },
      { line: / user grants of organization/, count: 3 },
      { line: /^addresses of /, count: 2 },
    ]
    for (const killAt of killed) expect((await runMigration(zitadel.url, ['--run'], { killAt })).status).toBe(null)
    const { status, out } = await runMigration(zitadel.url, ['--run'])
    expect(out.filter((line) => line.startsWith('not moved: '))).toEqual([
      ...data.organizations.map(({ id }, n) => expect.stringContaining(`member "${id} ${data.users[n + 6]!.userId}"`)),
      expect.stringContaining(`OIDC": ZITADEL gives nobody its secret`),
    ])
    expect(status).toBe(1)
  })

  test('every organization is there under its id, with its name, domain and state', async () => {
    for (const { id, name: wanted, primaryDomain, state } of data.organizations)
      expect(ok(await call('GetOrganization', { orgId: id! }, admin())).organization).toMatchObject({
        id,
        name: wanted,
        primaryDomain,
        state: state === 2 ? 'ORGANIZATION_STATE_INACTIVE' : 'ORGANIZATION_STATE_ACTIVE',
      })
  })

  test('every user is there once under its id, with profile, address and state', async () => {
    for (const { id } of data.organizations) {
      const users = await all('SearchUsers', 'users', {}, id!)
      const wanted = data.users.filter(({ details }) => details?.resourceOwner === id).map(shownUser)
      const shown = users.map(({ details: _, ...user }) => user)
      expect(shown.sort(by('userId'))).toEqual(wanted.sort(by('userId')))
    }
  })

  test('every project is there once under its id, with its roles, state and grants', async () => {
    for (const { id } of data.organizations) {
      const projects = await all('SearchProjects', 'projects', {}, id!)
      const own = data.projects.filter(({ details }) => details?.resourceOwner === id)
      const wanted = own.map(({ id: projectId, name: text, state }) => ({
        id: projectId,
        name: text,
        state: state === 2 ? 'PROJECT_STATE_INACTIVE' : 'PROJECT_STATE_ACTIVE',
      }))
      expect(projects.map(({ id: projectId, name: text, state }) => ({ id: projectId, name: text, state })).sort(by('id'))).toEqual(wanted.sort(by('id'))) // prettier-ignore
      for (const { id: projectId } of own) {
        const roles = await all('SearchProjectRoles', 'roles', { projectId: projectId! }, id!)
        expect(roles.sort(by('key'))).toEqual([...data.roles[projectId!]!].sort(by('key')))
      }
      const grants = await all('SearchProjectGrants', 'projectGrants', {}, id!)
      const ids = new Set(own.map((project) => project.id))
      expect(grants.map(shownProjectGrant).sort(by('grantId'))).toEqual(
        data.projectGrants
          .filter(({ projectId }) => ids.has(projectId))
          .map(wantedProjectGrant)
          .sort(by('grantId')),
      )
    }
  })

  test('every user grant is there once under its id, with its roles and state', async () => {
    for (const { id } of data.organizations) {
      const grants = await all('SearchUserGrants', 'userGrants', {}, id!)
      const wanted = data.userGrants.filter(({ orgId }) => orgId === id)
      expect(grants.map(({ details: _, organizationId: __, ...grant }) => grant).sort(by('id'))).toEqual(
        wanted.map(({ orgId: _, state, ...grant }) => ({ ...grant, state: state === 2 ? 'USER_GRANT_STATE_INACTIVE' : 'USER_GRANT_STATE_ACTIVE' })).sort(by('id')), // prettier-ignore
      )
    }
  })

  test('members have the roles that Roster knows', async () => {
    for (const [n, { id }] of data.organizations.entries()) {
      const members = await all('SearchOrganizationMembers', 'members', {}, id!)
      expect(members.map(({ userId, roles }) => [userId, roles]).sort()).toEqual(
        [
          [data.users[n]!.userId, ['ORG_OWNER']],
          [data.users[n + 6]!.userId, ['ORG_USER_MANAGER']],
        ].sort(),
      )
    }
    const [{ id: owner }, { id: granted }] = data.organizations as [{ id: string }, { id: string }]
    const projectId = data.projects[0]!.id!
    const ofOwner = await all('SearchProjectMembers', 'members', { projectId }, owner)
    expect(ofOwner.map(({ roles }) => roles).sort()).toEqual([['PROJECT_OWNER'], ['PROJECT_OWNER_VIEWER']])
    const ofGranted = await all('SearchProjectMembers', 'members', { projectId }, granted)
    expect(ofGranted.map(({ roles }) => roles)).toEqual([['PROJECT_GRANT_OWNER']])
    const onInstance = await all('SearchInstanceMembers', 'members', { userId: data.users[0]!.userId! })
    expect(onInstance).toEqual([])
  })

  test('a provider without a secret is there once, in its state', async () => {
    const { idps } = ok(await call('SearchIDPs', { name: `${name} JWT of all` }, admin()))
    expect(idps).toMatchObject([{ state: 'IDP_STATE_INACTIVE', jwt: { headerName: 'x-token' } }])
    const own = await all('SearchOrganizationIDPs', 'idps', {}, data.organizations[0]!.id!)
    expect(own).toMatchObject([{ name: `${name} JWT`, state: 'IDP_STATE_ACTIVE' }])
  })

  test('one more run finds everything there, and changes nothing', async () => {
    const before = await sequences()
    const { out } = await runMigration(zitadel.url, ['--run'])
    expect({ ...countsOf(out), state: again['state'] }).toEqual(again)
    expect(await sequences()).toEqual(before)
  })
})

async function sequences(): Promise<string[]> {
  const lists = data.organizations.map(async ({ id }) => [
    ...(await all('SearchUsers', 'users', {}, id!)),
    ...(await all('SearchProjects', 'projects', {}, id!)),
    ...(await all('SearchUserGrants', 'userGrants', {}, id!)),
  ])
  const objects = (await Promise.all(lists)).flat()
  return objects.map(({ id, userId, details: { sequence } }) => `${id ?? userId} ${sequence}`).sort()
}

async function all(operation: Operation, field: string, request: object, organization?: string): Promise<any[]> {
  const found: any[] = []
  for (let cursor = ''; ;) {
    const answer = ok(await call(operation, { ...request, limit: 1000, cursor } as never, admin(organization)))
    found.push(...(answer[field] ?? []))
    if (!answer.nextCursor) return found
    cursor = answer.nextCursor
  }
}

function by(field: string) {
  return (one: any, other: any) => (one[field] < other[field] ? -1 : 1)
}

function verifiedOf({ users }: ZitadelData) {
  return users.filter(({ type }) => type?.case === 'human' && type.value.email?.isVerified)
}

function statesOf({ organizations, users, projects, projectGrants, userGrants }: ZitadelData): number {
  const inactive = [organizations, projects, projectGrants, userGrants].flatMap((list) =>
    (list as { state?: number }[]).filter(({ state }) => state === 2),
  )
  return inactive.length + users.filter(({ state }) => state !== 1).length
}

function shownUser({ userId, username, state, details, type }: ZitadelData['users'][number]) {
  const shared = {
    userId,
    userName: username,
    organizationId: details!.resourceOwner,
    state: { 1: 'USER_STATE_ACTIVE', 2: 'USER_STATE_INACTIVE', 4: 'USER_STATE_LOCKED' }[state as 1],
  }
  if (type!.case === 'machine') {
    const { accessTokenType, ...machine } = type!.value
    return { ...shared, machine: { ...machine, ...(accessTokenType && { accessTokenType: 'ACCESS_TOKEN_TYPE_JWT' }) } }
  }
  const { profile, email } = type!.value as any
  const { givenName: firstName, familyName: lastName, displayName, nickName, preferredLanguage } = profile
  const named = { firstName, lastName, displayName, ...(nickName && { nickName }) }
  return {
    ...shared,
    human: {
      profile: { ...named, ...(preferredLanguage !== 'und' && { preferredLanguage }) },
      email: { email: email.email, ...(email.isVerified && { isVerified: true }) },
    },
  }
}

function shownProjectGrant({ grantId, projectId, grantedOrgId, grantedRoleKeys, state }: any) {
  return { grantId, projectId, grantedOrgId, grantedRoleKeys, isInactive: state === 'PROJECT_GRANT_STATE_INACTIVE' }
}

function wantedProjectGrant({ projectOwnerId: _, state, ...grant }: ZitadelData['projectGrants'][number]) {
  return { ...grant, isInactive: state === 2 }
}

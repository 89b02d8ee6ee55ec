import { beforeAll, describe, expect, test } from 'vitest'
import { rolesOf } from '#lib/rpc/roles'
import type { Operation } from '../../examples/contract.ts'
import { newSignedInMachine } from '../../examples/machines.ts'
import { admin, newHuman, newMember, newOrganization, ok, unique } from '../../examples/people.ts'
import { grantProject, newProject } from '../../examples/projects.ts'
import { type Answer, factsOf } from '../clients/call.ts'
import { call as json, over } from '../clients/encodings.ts'

let home: string
let abroad: string
let project: string

beforeAll(async () => {
  ;[home, abroad] = await Promise.all([newOrganization(), newOrganization()])
  project = await newProject(home)
})

const reason = (answer: Answer) => factsOf(answer).reason ?? 'ok'

type Level = 'Organization' | 'Project' | 'Instance'
const operations = (level: Level) =>
  ({
    add: `Add${level}Member`,
    update: `Update${level}Member`,
    remove: `Remove${level}Member`,
    search: `Search${level}Members`,
  }) as const satisfies Record<string, Operation>
const places: { level: Level; roles: string[]; owner: () => string; of: () => object }[] = [
  { level: 'Organization', roles: rolesOf('organization'), owner: () => home, of: () => ({}) },
  { level: 'Project', roles: rolesOf('project'), owner: () => home, of: () => ({ projectId: project }) },
  { level: 'Instance', roles: rolesOf('instance'), owner: () => 'roster', of: () => ({}) },
]

describe.each(over('grpc-web'))('members over $encoding', ({ call }) => {
  test.each(places)(
    '$level: one gets every role, other ones, and none; every search shows it at once',
    async (place) => {
      const { add, update, remove, search } = operations(place.level)
      const { userId } = await newHuman(home)
      const own = { ...place.of(), userId }
      const found = async (filter: object = {}) =>
        ok(await call(search, { ...own, ...filter }, admin(home))).members ?? []
      expect(await found()).toEqual([])
      const { details } = ok(await call(add, { ...own, roles: place.roles }, admin(home)))
      expect(details).toMatchObject({ sequence: '1', resourceOwner: place.owner() })
      expect(await found()).toEqual([{ userId, details, roles: place.roles }])
      const [role, ...others] = place.roles.toReversed()
      const changed = ok(await call(update, { ...own, roles: [role!] }, admin(home)))
      expect(changed.details).toMatchObject({ sequence: '2', creationDate: details.creationDate })
      expect(await found({ role: role! })).toEqual([{ userId, details: changed.details, roles: [role] }])
      for (const lost of others) expect(await found({ role: lost })).toEqual([])
      expect(ok(await call(update, { ...own, roles: [role!] }, admin(home)))).toEqual(changed)
      const removed = ok(await call(remove, own, admin(home)))
      expect(removed.details).toMatchObject({ sequence: '3', creationDate: details.creationDate })
      expect(await found()).toEqual([])
      expect(reason(await call(remove, own, admin(home)))).toBe('MEMBER_NOT_FOUND')
      expect(reason(await call(update, { ...own, roles: [role!] }, admin(home)))).toBe('MEMBER_NOT_FOUND')
      const again = ok(await call(add, { ...own, roles: [role!] }, admin(home)))
      expect(await found()).toEqual([{ userId, details: again.details, roles: [role] }])
    },
  )

  test.each(places.slice(0, 2))('$level: a search shows all members, page by page, in both orders', async (place) => {
    const { add, search } = operations(place.level)
    const organization = await newOrganization()
    const where = place.level === 'Project' ? { projectId: await newProject(organization) } : {}
    const userIds: string[] = []
    for (let n = 0; n < 5; n++) {
      const { userId } = await newHuman(organization)
      ok(await json(add, { ...where, userId, roles: [place.roles[0]!] }, admin(organization)))
      userIds.push(userId)
    }
    const pages = async (order: object) => {
      const found: string[] = []
      for (let cursor = ''; ;) {
        const page = { ...where, ...order, limit: 2, cursor, withTotal: true }
        const { members, nextCursor = '', total } = ok(await call(search, page, admin(organization)))
        expect(total).toBe(5)
        found.push(...members.map((member: { userId: string }) => member.userId))
        if (nextCursor === '') return found
        cursor = nextCursor
      }
    }
    const byUser = { sortingColumn: 'MEMBER_FIELD_NAME_USER_ID' }
    expect(await pages({})).toEqual(userIds)
    expect(await pages({ descending: true })).toEqual(userIds.toReversed())
    expect(await pages(byUser)).toEqual(userIds.toSorted())
    expect(await pages({ ...byUser, descending: true })).toEqual(userIds.toSorted().toReversed())
    expect(ok(await call(search, where, admin(home))).members ?? []).not.toContainEqual(
      expect.objectContaining({ userId: userIds[0] }),
    )
  })

  test.each([
    { who: 'a person', make: () => newMember(home, []) },
    { who: 'a machine', make: () => newSignedInMachine(home) },
  ])('$who gives and takes no role above the own, nor changes a member that has one', async ({ make }) => {
    const { userId } = await newHuman(home)
    const manager: { userId: string; token: string } = await make()
    const rest = { userId: manager.userId, roles: ['IAM_USER_MANAGER'] }
    ok(await json('AddInstanceMember', rest, admin()))
    // It may remove members of an organization, but none of them has fewer permissions than it.
    const acting = { token: manager.token, organization: home }
    ok(await json('AddOrganizationMember', { userId, roles: ['ORG_OWNER'] }, admin(home)))
    expect(reason(await call('RemoveOrganizationMember', { userId }, acting))).toBe('PERMISSION_DENIED')
    ok(await json('UpdateOrganizationMember', { userId, roles: ['ORG_USER_MANAGER'] }, admin(home)))
    expect(reason(await call('UpdateOrganizationMember', { userId, roles: ['ORG_OWNER'] }, acting))).toBe(
      'PERMISSION_DENIED',
    )
    expect(reason(await call('RemoveOrganizationMember', { userId }, acting))).toBe('ok')
    // Nor itself.
    for (const { level, roles, of } of places)
      for (const role of roles) {
        const own = { ...of(), userId: manager.userId, roles: [role] }
        expect(reason(await call(operations(level).add, own, acting)), role).toBe('PERMISSION_DENIED')
      }
    expect(reason(await call('UpdateInstanceMember', { ...rest, roles: ['IAM_OWNER'] }, acting))).toBe(
      'PERMISSION_DENIED',
    )
  })

  test('a role in one project gives its members, and nothing in other projects or of the organization', async () => {
    const [other, { userId }] = [await newProject(home), await newHuman(abroad)]
    const lead = await newMember(home, [])
    ok(
      await json(
        'AddProjectMember',
        { projectId: project, userId: lead.userId, roles: ['PROJECT_OWNER'] },
        admin(home),
      ),
    )
    const member = { projectId: project, userId, roles: ['PROJECT_OWNER_VIEWER'] }
    const caller = { token: lead.token }
    await expect.poll(async () => reason(await call('AddProjectMember', member, caller)), { timeout: 5000 }).toBe('ok')
    expect(ok(await call('SearchProjectMembers', { projectId: project, userId }, caller)).members).toHaveLength(1)
    expect(reason(await call('UpdateProjectMember', { ...member, roles: ['PROJECT_OWNER'] }, caller))).toBe('ok')
    expect(reason(await call('RemoveProjectMember', { projectId: project, userId }, caller))).toBe('ok')
    for (const projectId of [other, 'unknown'])
      expect(reason(await call('AddProjectMember', { ...member, projectId }, caller))).toBe('PERMISSION_DENIED')
    expect(reason(await call('AddOrganizationMember', { userId, roles: ['ORG_OWNER_VIEWER'] }, caller))).toBe(
      'PERMISSION_DENIED',
    )
    expect(reason(await call('SearchOrganizationMembers', {}, caller))).toBe('PERMISSION_DENIED')
  })

  test('an organization gives PROJECT_GRANT_OWNER, and no other role, where it has a grant of the project', async () => {
    const { userId } = await newHuman(abroad)
    const projectId = await newProject(home)
    const give = async (role: string) =>
      reason(await call('AddProjectMember', { projectId, userId, roles: [role] }, admin(abroad)))
    for (const role of rolesOf('project')) expect(await give(role)).toBe('PROJECT_NOT_FOUND')
    await grantProject(home, projectId, abroad, [])
    for (const role of ['PROJECT_OWNER', 'PROJECT_OWNER_VIEWER']) expect(await give(role)).toBe('PROJECT_NOT_FOUND')
    expect(await give('PROJECT_GRANT_OWNER')).toBe('ok')
    const roles = ['PROJECT_OWNER']
    expect(reason(await call('UpdateProjectMember', { projectId, userId, roles }, admin(abroad)))).toBe(
      'PROJECT_NOT_FOUND',
    )
    // The project's owner sees only the members that it made itself.
    expect(ok(await call('SearchProjectMembers', { projectId, userId }, admin(home))).members ?? []).toEqual([])
  })

  test('a lost role counts no more', async () => {
    const owner = await newMember(home, ['ORG_OWNER'])
    const add = async () => reason(await call('AddProject', { name: unique('P') }, { token: owner.token }))
    expect(await add()).toBe('ok')
    const { userId } = owner
    ok(await call('UpdateOrganizationMember', { userId, roles: ['ORG_OWNER_VIEWER'] }, admin(home)))
    await expect.poll(add, { timeout: 5000 }).toBe('PERMISSION_DENIED')
    ok(await call('UpdateOrganizationMember', { userId, roles: ['ORG_OWNER'] }, admin(home)))
    await expect.poll(add, { timeout: 5000 }).toBe('ok')
    ok(await call('RemoveOrganizationMember', { userId }, admin(home)))
    await expect.poll(add, { timeout: 5000 }).toBe('PERMISSION_DENIED')
  })

  test('a role in another organization counts at once for its users, and no more after its end', async () => {
    const [guest, { userId }] = [await newMember(home, []), await newHuman(abroad)]
    const get = async () => reason(await call('GetUser', { userId }, { token: guest.token }))
    expect(await get()).toBe('PERMISSION_DENIED')
    const member = { userId: guest.userId, roles: ['ORG_OWNER'] }
    ok(await call('AddOrganizationMember', member, admin(abroad)))
    await expect.poll(get, { timeout: 5000 }).toBe('ok')
    ok(await call('RemoveOrganizationMember', { userId: guest.userId }, admin(abroad)))
    await expect.poll(get, { timeout: 5000 }).toBe('PERMISSION_DENIED')
    ok(await call('AddOrganizationMember', member, admin(abroad)))
    await expect.poll(get, { timeout: 5000 }).toBe('ok')
    ok(await call('DeactivateOrganization', {}, admin(abroad)))
    await expect.poll(get, { timeout: 5000 }).toBe('PERMISSION_DENIED')
    ok(await call('ReactivateOrganization', {}, admin(abroad)))
    await expect.poll(get, { timeout: 5000 }).toBe('ok')
  })

  test('who leaves an organization has no role there or in its projects, and keeps those elsewhere', async () => {
    const [user, organization] = [await newMember(home, ['ORG_OWNER_VIEWER']), await newOrganization()]
    const { userId, token } = user
    ok(await json('AddInstanceMember', { userId, roles: ['IAM_ORG_MANAGER'] }, admin()))
    ok(await json('AddOrganizationMember', { userId, roles: ['ORG_OWNER'] }, admin(organization)))
    for (const projectId of [await newProject(organization), await newProject(organization)])
      ok(await json('AddProjectMember', { projectId, userId, roles: ['PROJECT_OWNER'] }, admin(organization)))
    ok(await json('RemoveInstanceMember', { userId }, admin()))
    const getProjects = async () => reason(await call('SearchProjects', {}, { token, organization }))
    await expect.poll(getProjects, { timeout: 5000 }).toBe('ok')
    const leave = (orgId: string) => call('LeaveOrganization', { orgId }, { token })
    expect(ok(await leave(organization))).toEqual({ ended: 3 })
    await expect.poll(getProjects, { timeout: 5000 }).toBe('PERMISSION_DENIED')
    expect(reason(await leave(organization))).toBe('MEMBER_NOT_FOUND')
    expect(ok(await call('SearchOrganizationMembers', { userId }, { token })).members).toHaveLength(1)
    expect(ok(await leave(home))).toEqual({ ended: 1 })
    ok(await json('AddOrganizationMember', { userId, roles: ['ORG_OWNER'] }, admin(organization)))
  })

  test('the members of a removed user go', async () => {
    const { userId } = await newHuman(home)
    for (const { level, roles, of } of places)
      ok(await json(operations(level).add, { ...of(), userId, roles: [roles.at(-1)!] }, admin(home)))
    ok(await json('DeleteUser', { userId }, admin()))
    for (const { level, roles, of } of places) {
      const left = async () => ok(await call(operations(level).search, { ...of(), userId }, admin(home))).members ?? []
      await expect.poll(left, { timeout: 10_000 }).toEqual([])
      const add = await call(operations(level).add, { ...of(), userId, roles: [roles.at(-1)!] }, admin(home))
      expect(reason(add)).toBe('USER_NOT_FOUND')
    }
  })
})

describe('at the same moment', () => {
  test('of two owners that remove each other, one stays and both know', async () => {
    for (let round = 0; round < 15; round++) {
      const organization = await newOrganization()
      const [one, other] = await Promise.all([
        newMember(organization, ['ORG_OWNER']),
        newMember(organization, ['ORG_OWNER']),
      ])
      const reasons = (
        await Promise.all([
          json('RemoveOrganizationMember', { userId: other.userId }, { token: one.token }),
          json('RemoveOrganizationMember', { userId: one.userId }, { token: other.token }),
        ])
      ).map(reason)
      expect(reasons.toSorted()).toEqual(['PERMISSION_DENIED', 'ok'])
      expect(ok(await json('SearchOrganizationMembers', {}, admin(organization))).members).toHaveLength(1)
    }
  })

  test('an owner who is removed gives no one a role afterwards', async () => {
    for (let round = 0; round < 15; round++) {
      const organization = await newOrganization()
      const [{ userId, token }, ...others] = await Promise.all([
        newMember(organization, ['ORG_OWNER']),
        ...Array.from({ length: 8 }, () => newHuman(organization)),
      ])
      const [removed, ...given] = await Promise.all([
        json('RemoveOrganizationMember', { userId }, admin(organization)),
        ...others.map((human) =>
          json('AddOrganizationMember', { userId: human.userId, roles: ['ORG_OWNER'] }, { token }),
        ),
      ])
      ok(removed)
      for (const answer of given) expect(['ok', 'PERMISSION_DENIED', 'TOKEN_INVALID']).toContain(reason(answer))
      const events = await memberEvents(organization, 2 + given.filter((answer) => answer.ok).length)
      const end = events.findIndex(({ type }) => type === 'roster.member.removed.v1')
      expect(end).toBeGreaterThan(0)
      expect(events.slice(end).filter(({ actor }) => actor === userId)).toEqual([])
    }
  })
})

/** The events of an organization's members, in the order of their commits. */
async function memberEvents(organization: string, count: number): Promise<{ type: string; actor: string }[]> {
  const filter = { eventTypes: ['roster.member.added.v1', 'roster.member.removed.v1'] }
  let events: { id: string; type: string; actor: string }[] = []
  // Events come once every transaction before them is over, and other tests fill tables.
  await expect
    .poll(
      async () => {
        events = ok(await json('SearchOrganizationEvents', { filter }, admin(organization))).events ?? []
        return events.length
      },
      { timeout: 20_000 },
    )
    .toBe(count)
  return events.toSorted((one, other) => Number(one.id.split('-').at(-1)) - Number(other.id.split('-').at(-1)))
}

import postgres from 'postgres'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { connectNats } from '#lib/nats/connect-nats'
import { createLog } from '#lib/log'
import { streamName } from '#lib/events/stream'
import { ok, unique } from '../../examples/people.ts'
import { call } from '../clients/encodings.ts'
import { startOwnHouse } from '../own-house.ts'

let roster: Awaited<ReturnType<typeof startOwnHouse>>
let sql: postgres.Sql
let organizationId: string

beforeAll(async () => {
  roster = await startOwnHouse()
  sql = postgres(roster.servers.serviceDatabaseUrls.grants, { max: 1, onnotice: () => {} })
  organizationId = await newOrganization()
})

afterAll(async () => {
  await sql?.end()
  await roster?.stop()
})

const owner = (organization = organizationId) => ({ ...roster.machine, organization })

async function newOrganization(): Promise<string> {
  return ok(await call('AddOrganization', { name: unique('Organization') }, roster.machine)).organizationId
}

/** Adds a project with these roles and returns its id. */
async function newProject(roleKeys: string[]): Promise<string> {
  const { id } = ok(await call('AddProject', { name: unique('Project') }, owner()))
  for (let at = 0; at < roleKeys.length; at += 50)
    await Promise.all(roleKeys.slice(at, at + 50).map(async (key) => ok(await addRole(id, key))))
  return id
}

const addRole = (projectId: string, roleKey: string) =>
  call('AddProjectRole', { projectId, roleKey, displayName: 'Role' }, owner())

const numbered = (count: number) => Array.from({ length: count }, (_, i) => `role-${i}`)

/** The role key with the most bytes and characters in JSON. */
const largest = (i: number) => `${i}${'🦊'.repeat(200 - String(i).length)}`
/** One that a former release allowed. */
const larger = (i: number) => String(i).padEnd(200, '\u0001')

const addGrant = async (projectId: string, roleKeys: string[]) =>
  call('AddUserGrant', { userId: (await me()).userId, projectId, roleKeys }, owner())

async function me() {
  const name = unique('machine')
  return ok(await call('AddMachineUser', { userName: name, name }, owner()))
}

const limitOf = (limit: string, most: string) => ({
  code: 8,
  details: [{ reason: 'LIMIT_REACHED', metadata: { limit, most } }],
})

test('a project has at most 1,000 roles, a grant of it at most 200; each error names its limit', async () => {
  const projectId = await newProject(numbered(1000))
  expect((await addRole(projectId, 'role-0')).error).toMatchObject({ code: 6, details: [{ reason: 'ROLE_EXISTS' }] })
  expect((await addRole(projectId, 'one-more')).error).toMatchObject(limitOf('project.roles', '1000'))

  const granted = await newOrganization()
  const addProjectGrant = (roleKeys: string[]) =>
    call('AddProjectGrant', { projectId, grantedOrgId: granted, roleKeys }, owner())
  const tooMany = numbered(201)
  expect((await addGrant(projectId, tooMany)).error).toMatchObject(limitOf('user_grant.role_keys', '200'))
  expect((await addProjectGrant(tooMany)).error).toMatchObject(limitOf('project_grant.role_keys', '200'))
  // Other faults are reported first, and duplicates do not count.
  expect((await addGrant(projectId, [...tooMany, 'unknown'])).error).toMatchObject({ code: 9 })
  ok(await addGrant(projectId, [...numbered(200), ...numbered(200)]))
  ok(await addProjectGrant(numbered(200)))
})

test('the largest allowed grant is one event that everybody gets, and a project stays loadable', async () => {
  const keys = Array.from({ length: 200 }, (_, i) => largest(i))
  const projectId = await newProject(keys)
  const { userGrantId, details } = ok(await addGrant(projectId, keys))
  expect(details.sequence).toBe('1')
  await vi.waitFor(async () => expect(await published()).toContain(userGrantId), { timeout: 15_000, interval: 100 })

  const huge = (i: number) => ({
    projectId,
    roleKey: largest(200 + i),
    displayName: largest(200),
    group: largest(200),
  })
  const answers = []
  for (let at = 0; at < 800; at += 50)
    answers.push(...(await Promise.all(numbered(50).map((_, i) => call('AddProjectRole', huge(at + i), owner())))))
  expect(answers.filter(({ error }) => !error).length).toBeGreaterThan(600)
  const refused = answers.filter(({ error }) => error)
  expect(refused.length).toBeGreaterThan(10)
  for (const { error } of refused) expect(error).toMatchObject(limitOf('aggregate.characters', '1048576'))
})

test('an old event that the broker refuses is a dead letter and logged, and the events behind it go on', async () => {
  const { userId } = await me()
  const { id: projectId } = ok(await call('AddProject', { name: unique('Project') }, owner()))
  const grantId = unique('grant')
  const roleKeys = Array.from({ length: 1830 }, (_, i) => larger(i))
  const payload = { userId, projectId, projectGrantId: '', roleKeys }
  const row = { organization_id: organizationId, created_at: new Date() }
  await sql`insert into events ${sql({ ...row, aggregate_type: 'user_grant', aggregate_id: grantId, sequence: 1, type: 'added', payload: sql.json(payload), creator: '', request_id: '' } as never)}`
  await sql`insert into aggregates ${sql({ ...row, type: 'user_grant', id: grantId, sequence: 1, changed_at: new Date(), state: sql.json(payload) } as never)}`
  const { id: later } = ok(await call('AddProject', { name: unique('Project') }, owner()))

  await vi.waitFor(async () => expect(await published()).toContain(later), { timeout: 15_000, interval: 100 })
  expect(await published()).not.toContain(grantId)
  const readyz = async () => {
    const answer = await fetch(`${roster.url}/readyz`)
    return [answer.status, await answer.json()]
  }
  const parked = { status: 'degraded', parked: { grants: 1 }, versions: expect.any(Object) }
  await vi.waitFor(async () => expect(await readyz()).toEqual([200, parked]), {
    timeout: 15_000,
    interval: 100,
  })

  // It stays readable. Followers of the events hear of it and of the events behind it.
  const { userGrant } = ok(await call('GetUserGrant', { userId, grantId }, owner()))
  expect(userGrant.roleKeys).toHaveLength(1830)
  const found = []
  for (let [cursor, endReached] = ['', false]; !endReached;) {
    const filter = { eventTypes: ['user_grant.added', 'project.added'] }
    const page = ok(await call('SearchOrganizationEvents', { cursor, filter }, owner()))
    found.push(...(page.events ?? []))
    ;[cursor, endReached] = [page.cursor, page.endReached ?? false]
  }
  const shown = found.filter(({ aggregateId }) => [grantId, later].includes(aggregateId))
  expect(shown).toMatchObject([
    { aggregateId: grantId, type: 'roster.user_grant.added.v1' },
    { aggregateId: later, data: {} },
  ])
  expect(shown[0].data.roleKeys).toHaveLength(1830)
  // A user's removal passes it, too, and takes the grant away.
  ok(await call('DeleteUser', { userId }, owner()))
  await vi.waitFor(
    async () => expect((await call('GetUserGrant', { userId, grantId }, owner())).error).toMatchObject({ code: 5 }),
    { timeout: 15_000, interval: 100 },
  )
})

/** The ids of the grants with events in the stream, each once. */
async function published(): Promise<string[]> {
  const { connection } = await connectNats(roster.servers.natsUrl.admin, 'admin', createLog('test', 'silent'))
  try {
    const { streams } = await connection.jetstreamManager()
    const { state } = await streams.info(streamName, { subjects_filter: 'roster.events.grants.>' })
    const subjects = Object.keys(state.subjects ?? {}).map((subject) => subject.split('.'))
    return subjects.filter(([, , , , type]) => type !== 'audit').map(([, , , , , id]) => id!)
  } finally {
    await connection.close()
  }
}

import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { testServers } from '#test/support/servers'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { InternalServiceDefinition as UsersInternal } from '#gen/roster/users/v1/internal_service'
import { RosterError } from '#lib/errors'
import { hintSubject, writeHints } from '#lib/events/hints'
import { openDatabase, type Sql } from '#lib/database/database'
import { createFeed } from '#lib/subscriptions/feed'
import { migrate } from '#lib/schema/migrate'
import type { Decision } from '#lib/eventstore/command'
import { createStore } from '#lib/eventstore/store'
import { silent } from '#test/support/counters'
import { createHold } from '#test/support/hold'
import { connectNats, type Nats } from '#lib/nats/connect-nats'
import type { Service } from '#lib/process'
import { createClient } from '#lib/rpc/call'
import { instance } from '#lib/instance'
import { anonymous } from '#lib/rpc/caller'
import { serve, served } from '#lib/rpc/serve'
import { testCallerKeys, testReader } from '#test/support/caller-keys'
import { readGrantsConfig } from '../config.ts'
import type { Context } from '../context.ts'
import { addedMember } from '../members/new-member.ts'
import { addedOrganization } from '../organizations/new-organization.ts'
import { addOrganizationMember } from '../operations/member/add-organization-member.ts'
import { addProject } from '../operations/project/add-project.ts'
import { addUserGrant } from '../operations/user-grant/add-user-grant.ts'
import { getUserGrant } from '../operations/user-grant/get-user-grant.ts'
import { portion } from './in-portions.ts'
import { startUserRemoval } from './user-removal.ts'
import { project } from '../projections.ts'
import { evolve } from '../vocabulary/evolve.ts'
import { internalCalls } from '../../internal-calls.ts'

let database: TestDatabase
let [users, grants]: Nats[] = []
let context: Context
let usersSql: Sql
let removal: Service
const stops: (() => Promise<unknown>)[] = []
const slow = createHold()
// A transaction of another test on the same PostgreSQL holds up the events.
const soon = { timeout: 30_000, interval: 20 }

beforeAll(async () => {
  database = await createDatabase()
  const { natsUrl } = testServers()
  ;[users, grants] = await Promise.all([
    connectNats(natsUrl.users, 'users', silent),
    connectNats(natsUrl.grants, 'grants', silent),
  ])
  usersSql = openDatabase(database.urls.users, 'users', silent)
  await migrate(usersSql, new URL('../../users/migrations/', import.meta.url), silent)
  await serveUsers(users)
  const config = readGrantsConfig({
    DATABASE_URL: database.urls.grants,
    NATS_URL: natsUrl.grants,
    ROSTER_ENCRYPTION_KEY: Buffer.alloc(32, 1).toString('base64'),
    ROSTER_CALLER_KEY: testCallerKeys.grants,
  })
  const sql = openDatabase(config.DATABASE_URL, 'grants', silent)
  await migrate(sql, new URL('../migrations/', import.meta.url), silent)
  const store = createStore(slow.wrap(sql), { evolve, project }, silent, () => {})
  context = {
    config,
    sql,
    store,
    users: createClient(grants, UsersInternal, internalCalls.grants.users),
    idp: undefined as never,
  }
  const owner = { userId: 'root', roles: ['IAM_OWNER'] }
  await create('member', 'root', () => addedMember(instance.id, owner))
  for (const id of ['acme', 'umbrella']) await create('organization', id, () => addedOrganization(id, id, id))
  removal = startUserRemoval(context, grants, silent)
  stops.push(
    () => removal.stop(),
    () => users!.connection.close(),
    () => grants!.connection.close(),
    () => sql.end(),
    () => usersSql.end(),
  )
})
afterAll(async () => {
  for (const stop of stops) await stop()
  await database?.drop()
})

const create = (type: string, id: string, decide: () => Decision) =>
  context.store.execute({ aggregate: { type, id }, call: call(), decide })

/** A users service that finds every user, as just before a removal, and lists its events. */
async function serveUsers(nats: Nats) {
  const others = Object.keys(UsersInternal.methods).map((name) => [name, () => new Promise(() => {})])
  const listEvents = createFeed({ service: 'users', sql: usersSql, log: silent })
  const operations = { ...Object.fromEntries(others), lookupUser: async () => ({ organizationId: 'acme' }), listEvents }
  const services = [served<typeof UsersInternal, object>(UsersInternal, operations)]
  const service = await serve({
    name: 'users',
    nats,
    log: silent,
    context: {},
    services,
    readCaller: testReader('users'),
  })
  stops.push(() => service.stop())
}

const unchecked = { projectRoleAssertion: false, projectRoleCheck: false }
const call = (organizationId = 'acme') => ({
  caller: { ...anonymous, userId: 'root', organizationId, instanceRoles: ['IAM_OWNER'] },
  organizationId,
  clientAddress: '',
  requestId: 'test',
  traceparent: '',
  deadline: Date.now() + 20_000,
})
const newProject = async () => (await addProject.handle(context, { name: 'P', ...unchecked }, call())).id
const give = async (userId: string, projectId: string) => {
  const request = { userId, projectId, projectGrantId: '', roleKeys: [] }
  return { userId, grantId: (await addUserGrant.handle(context, request, call())).userGrantId }
}
const join = (userId: string, organizationId = 'acme') =>
  addOrganizationMember.handle(context, { userId, roles: ['ORG_OWNER'] }, call(organizationId))
const reasonOf = (work: Promise<unknown>) =>
  work.then(
    () => 'ok',
    (error: unknown) => (error instanceof RosterError ? error.reason : String(error)),
  )

/** Stores the event in users' database and announces it. */
async function remove(userId: string, at = new Date()) {
  await usersSql`
    insert into events
      (aggregate_type, aggregate_id, sequence, type, payload, organization_id, creator, request_id, created_at)
    select 'user', ${userId}, 1 + count(*), 'removed', '{}', 'acme', 'boss', 'request-7', ${at}
    from events where aggregate_id = ${userId}
  `
  const event = { organization_id: 'acme', aggregate_type: 'user', type: 'removed' }
  users!.connection.publish(hintSubject('users'), writeHints([event]))
}
const hasTombstone = (userId: string) =>
  vi.waitFor(async () => expect(await context.store.load('removed_user', userId)).toBeDefined(), soon)
const events = (userId: string) => context.sql<{ type: string; creator: string; request_id: string; cause: string }[]>`
  select aggregate_type || '.' || type as type, creator, request_id, cause from events
  where type = 'removed' and payload ->> 'userId' = ${userId}
    or aggregate_type = 'removed_user' and aggregate_id = ${userId}
  order by 1
`

test('a removed user loses its holdings once, by events that name actor and cause', async () => {
  const userId = 'holder'
  const held = await give(userId, await newProject())
  await join(userId)
  await join(userId, 'umbrella')
  await give('somebody-else', await newProject())
  await remove(userId)
  await hasTombstone(userId)
  await remove(userId)
  const last = 'last'
  await remove(last)
  await hasTombstone(last)
  const by = { creator: 'boss', request_id: 'request-7', cause: 'users-1' }
  const types = ['member.removed', 'member.removed', 'removed_user.noted', 'user_grant.removed']
  expect(await events(userId)).toEqual(types.map((type) => ({ type, ...by })))
  expect(await reasonOf(getUserGrant(context, held, call()))).toBe('USER_GRANT_NOT_FOUND')
  expect(await context.sql`select 1 from memberships where user_id = ${userId}`).toHaveLength(0)
  expect(await context.sql`select 1 from unique_keys where key like ${`%${userId}%`}`).toHaveLength(0)
  expect(await events('somebody-else')).toEqual([])
})

test.each([
  ['a grant', give],
  ['a membership', (userId: string) => join(userId)],
])('%s is refused that was decided before the removal and would be stored after it', async (name, gift) => {
  const userId = `late-${name.slice(2)}`
  const projectId = await newProject()
  const { arrived, release } = slow.hold()
  const late = reasonOf(gift(userId, projectId))
  await arrived
  await remove(userId)
  await hasTombstone(userId)
  release()
  expect(await late).toBe('USER_NOT_FOUND')
  expect((await events(userId)).map(({ type }) => type)).toEqual(['removed_user.noted'])
})

test('a removal of long ago is made up for, however long grants was away, and once', async () => {
  await removal.stop()
  const [gone, before] = ['gone', 'before']
  await give(gone, await newProject())
  await remove(gone, new Date(Date.now() - 400 * 24 * 60 * 60_000))
  // As in the database of an older version: the removals before are done, and no place is kept.
  await context.sql`delete from followers`
  await remove(before)
  const done = (await events('holder')).length
  removal = startUserRemoval(context, grants!, silent)
  await hasTombstone(before)
  // Several removals are under way at a time.
  await expect
    .poll(async () => (await events(gone)).map(({ type }) => type), soon)
    .toEqual(['removed_user.noted', 'user_grant.removed'])
  expect(await events('holder')).toHaveLength(done)
})

test('a removed user loses also what many organizations gave, in portions', async () => {
  const [userId, roles] = ['flooded', ['PROJECT_OWNER']]
  const projects = Array.from({ length: portion + 5 }, (_, index) => `p-${index}`)
  const add = (projectId: string) =>
    create('member', `${userId}-${projectId}`, () => addedMember('acme', { userId, projectId, roles }))
  await Promise.all(projects.map(add))
  const left = async () => (await context.sql`select from memberships where user_id = ${userId}`).count
  expect(await left()).toBe(portion + 5)
  await remove(userId)
  await expect.poll(left, { timeout: 20_000 }).toBe(0)
})

import { afterAll, beforeAll, expect, test } from 'vitest'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { untilForeignTransactionsEnd } from '#test/support/foreign-transactions'
import type { Event } from '#gen/roster/feed/v1/feed'
import { openDatabase, type Sql } from '#lib/database/database'
import { createFeed } from '#lib/subscriptions/feed'
import { migrate } from '#lib/schema/migrate'
import { createStore } from '#lib/eventstore/store'
import { anonymous } from '#lib/rpc/caller'
import { testCallerKeys } from '#test/support/caller-keys'
import { silent } from '#test/support/counters'
import { readGrantsConfig } from '../config.ts'
import type { Context } from '../context.ts'
import { portion } from './in-portions.ts'
import { addedMember } from '../members/new-member.ts'
import { addedOrganization } from '../organizations/new-organization.ts'
import { addProject } from '../operations/project/add-project.ts'
import { removeProject } from '../operations/project/remove-project.ts'
import { addProjectGrant } from '../operations/project-grant/add-project-grant.ts'
import { removeProjectGrant } from '../operations/project-grant/remove-project-grant.ts'
import { addProjectRole } from '../operations/project-role/add-project-role.ts'
import { removeProjectRole } from '../operations/project-role/remove-project-role.ts'
import { project } from '../projections.ts'
import { evolve } from '../vocabulary/evolve.ts'
import { readCause } from './cause.ts'
import { clearProject } from './clear-project.ts'
import { clearProjectGrant } from './clear-project-grant.ts'
import { takeRoleOfProject } from './take-role-of-project.ts'

let database: TestDatabase
let sql: Sql
let context: Context

beforeAll(async () => {
  database = await createDatabase()
  const config = readGrantsConfig({
    DATABASE_URL: database.urls.grants,
    NATS_URL: 'nats://localhost:1',
    ROSTER_ENCRYPTION_KEY: Buffer.alloc(32, 1).toString('base64'),
    ROSTER_CALLER_KEY: testCallerKeys.grants,
  })
  sql = openDatabase(config.DATABASE_URL, 'grants', silent)
  await migrate(sql, new URL('../migrations/', import.meta.url), silent)
  const store = createStore(sql, { evolve, project }, silent, () => {})
  context = { config, sql, store, users: undefined as never, idp: undefined as never }
  for (const id of ['acme', 'umbrella'])
    await store.execute({
      aggregate: { type: 'organization', id },
      call: call(),
      decide: () => addedOrganization(id, id, id),
    })
})
afterAll(async () => {
  await sql.end()
  await database.drop()
})

const unchecked = { projectRoleAssertion: false, projectRoleCheck: false }
const call = (organizationId = 'acme') => ({
  caller: { ...anonymous, userId: 'root', organizationId },
  organizationId,
  clientAddress: '',
  requestId: 'test',
  traceparent: '',
  deadline: Date.now() + 30_000,
})

async function newProject() {
  const projectId = (await addProject.handle(context, { name: 'P', ...unchecked }, call())).id
  for (const roleKey of ['reader', 'writer'])
    await addProjectRole(context, { projectId, roleKey, displayName: 'R', group: '' }, call())
  return projectId
}

/** Gives so many users roles of the project, in few transactions. Every third one has another role too. */
async function give(projectId: string, count: number, projectGrantId = '', organizationId = 'acme') {
  await context.store.executeAll({
    commands: Array.from({ length: count }, (_, n) => ({
      aggregate: { type: 'user_grant', id: `${projectId}-${organizationId}-${n}` },
      decide: () => {
        const roleKeys = n % 3 === 0 ? ['reader', 'writer'] : ['reader']
        const payload = { userId: `u${n}`, projectId, projectGrantId, roleKeys }
        return { organizationId, events: [{ type: 'added', payload }], answer: undefined }
      },
    })),
    call: call(),
    lane: 'test',
    respond: (outcomes) => outcomes.length,
  })
}

async function lastCause(projectOrGrant: string, stopped = new AbortController().signal) {
  await untilForeignTransactionsEnd(sql)
  const feed = createFeed({ service: 'grants', sql, log: silent })
  const filter = {
    organizationId: '',
    aggregateTypes: [],
    aggregateIds: [projectOrGrant],
    eventTypes: [],
    actors: [],
    since: undefined,
  }
  const { events } = await feed(context, { after: undefined, fromEnd: false, filter, limit: 100 })
  return readCause(context, events.at(-1)!.event as Event, stopped)
}

const lost = (projectId: string) => sql<{ type: string; count: number; grants: number; causes: number }[]>`
  select type, count(*)::int as count, count(distinct aggregate_id)::int as grants, count(distinct cause)::int as causes
  from events where aggregate_type = 'user_grant' and aggregate_id like ${`${projectId}-%`} and type <> 'added'
  group by type order by type
`
const holders = (projectId: string, roleKey: string) =>
  sql`select from user_grant_roles where project_id = ${projectId} and role_key = ${roleKey}`

test('a cascade that stops half-way goes on, and two at once take each grant away once', async () => {
  const projectId = await newProject()
  await give(projectId, 1200)
  await removeProjectRole(context, { projectId, roleKey: 'reader' }, call())
  const stop = new AbortController()
  const cause = await lastCause(projectId, stop.signal)
  const { executeAll } = context.store
  const stopping: Context = {
    ...context,
    store: {
      ...context.store,
      executeAll: async (bulk) => executeAll(bulk).finally(() => stop.abort()),
    },
  }
  await takeRoleOfProject(stopping, cause)
  expect(await holders(projectId, 'reader')).toHaveLength(700)
  const [one, other] = [await lastCause(projectId), await lastCause(projectId)]
  await Promise.allSettled([takeRoleOfProject(context, one), takeRoleOfProject(context, other)])
  await takeRoleOfProject(context, one)
  expect(await holders(projectId, 'reader')).toHaveLength(0)
  expect(await holders(projectId, 'writer')).toHaveLength(400)
  expect(await lost(projectId)).toEqual([
    { type: 'changed', count: 400, grants: 400, causes: 1 },
    { type: 'removed', count: 800, grants: 800, causes: 1 },
  ])
})

test('a project takes its grants, user grants and members along', async () => {
  const [projectId, other] = [await newProject(), await newProject()]
  const grant = { projectId, grantedOrgId: 'umbrella', roleKeys: ['reader'] }
  const { grantId } = await addProjectGrant.handle(context, grant, call())
  await give(projectId, 700)
  await give(projectId, 3, grantId, 'umbrella')
  await give(other, 2)
  for (const id of [projectId, other])
    await context.store.execute({
      aggregate: { type: 'member', id: `m-${id}` },
      call: call(),
      decide: () => addedMember('acme', { userId: 'u1', projectId: id, roles: ['PROJECT_OWNER'] }),
    })
  await removeProject(context, { projectId }, call())
  await clearProject(context, await lastCause(projectId))
  const left = await sql`
    select type, id from aggregates
    where type in ('member', 'user_grant', 'project_grant') and not state ? 'removed'
      and state ->> 'projectId' in (${projectId}, ${other})
    order by id
  `
  expect(left.map(({ id }) => id)).toEqual([`${other}-acme-0`, `${other}-acme-1`, `m-${other}`].toSorted())
  expect(await sql`select from unique_keys where scope = ${projectId} or key like ${`%${projectId}%`}`).toHaveLength(0)
  expect(await sql`select from memberships where project_id = ${projectId}`).toHaveLength(0)
})

test('a project that is granted once more keeps what was given under the new grant', async () => {
  const projectId = await newProject()
  const grant = { projectId, grantedOrgId: 'umbrella', roleKeys: ['reader'] }
  const member = (id: string, userId: string) =>
    context.store.execute({
      aggregate: { type: 'member', id: `${id}-${projectId}` },
      call: call('umbrella'),
      decide: () => addedMember('umbrella', { userId, projectId, roles: ['PROJECT_GRANT_OWNER'] }),
    })
  const { grantId } = await addProjectGrant.handle(context, grant, call())
  await give(projectId, 2, grantId, 'umbrella')
  for (const userId of ['old-1', 'u-old']) await member(userId, userId)
  await removeProjectGrant(context, { projectId, grantId }, call())
  const cause = await lastCause(grantId)
  const again = await addProjectGrant.handle(context, grant, call())
  // More than a portion, before one of the old ones.
  const added = Array.from({ length: portion + 1 }, (_, index) => `u-${index}`)
  await Promise.all(added.map((userId) => member(userId, userId)))
  const payload = { userId: 'u9', projectId, projectGrantId: again.grantId, roleKeys: ['reader'] }
  await context.store.execute({
    aggregate: { type: 'user_grant', id: `${projectId}-new` },
    call: call('umbrella'),
    decide: () => ({ organizationId: 'umbrella', events: [{ type: 'added', payload }], answer: undefined }),
  })
  await clearProjectGrant(context, cause)
  expect(await sql`select grant_id from user_grants where project_id = ${projectId}`).toEqual([
    { grant_id: `${projectId}-new` },
  ])
  const left = await sql<{ id: string }[]>`select user_id as id from memberships where project_id = ${projectId}`
  expect(left.map(({ id }) => id).toSorted()).toEqual(added.toSorted())
})

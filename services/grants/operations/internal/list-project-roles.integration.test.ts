import { afterAll, beforeAll, expect, test } from 'vitest'
import { openDatabase, type Sql } from '#lib/database/database'
import { createStore } from '#lib/eventstore/store'
import { anonymous } from '#lib/rpc/caller'
import { migrate } from '#lib/schema/migrate'
import { testCallerKeys } from '#test/support/caller-keys'
import { silent } from '#test/support/counters'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { readGrantsConfig } from '../../config.ts'
import type { Context } from '../../context.ts'
import { model } from '../../model.ts'
import { addedOrganization } from '../../organizations/new-organization.ts'
import { addProject } from '../project/add-project.ts'
import { deactivateProject } from '../project/deactivate-project.ts'
import { reactivateProject } from '../project/reactivate-project.ts'
import { addProjectGrant } from '../project-grant/add-project-grant.ts'
import { deactivateProjectGrant } from '../project-grant/deactivate-project-grant.ts'
import { reactivateProjectGrant } from '../project-grant/reactivate-project-grant.ts'
import { removeProjectGrant } from '../project-grant/remove-project-grant.ts'
import { listProjectRoles } from './list-project-roles.ts'

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
  await migrate(sql, new URL('../../migrations/', import.meta.url), silent)
  context = {
    config,
    sql,
    store: createStore(sql, model, silent, () => {}),
    users: undefined as never,
    idp: undefined as never,
  }
  for (const id of ['acme', 'umbrella', 'foreign'])
    await context.store.execute({
      aggregate: { type: 'organization', id },
      call: call(),
      decide: () => addedOrganization(id, id, id),
    })
})
afterAll(async () => {
  await sql.end()
  await database.drop()
})

const call = (organizationId = 'acme') => ({
  caller: { ...anonymous, userId: 'root', organizationId },
  organizationId,
  clientAddress: '',
  requestId: 'test',
  traceparent: '',
  deadline: Date.now() + 30_000,
})
const newProject = async () =>
  (await addProject.handle(context, { name: 'P', projectRoleAssertion: false, projectRoleCheck: false }, call())).id
const admits = async (projectId: string) => {
  const asked = ['acme', 'umbrella', 'foreign', ''].map(async (userOrganizationId) => {
    const { admissions } = await listProjectRoles(context, { userId: 'ada', projectId, userOrganizationId })
    return admissions.length > 0 ? [userOrganizationId] : []
  })
  return (await Promise.all(asked)).flat()
}

test('a project admits its own organization, and others while it is granted to them', async () => {
  const projectId = await newProject()
  expect(await admits(projectId)).toEqual(['acme'])
  const request = { projectId, grantedOrgId: 'umbrella', roleKeys: [] }
  const own = { projectId, grantId: (await addProjectGrant.handle(context, request, call())).grantId }
  expect(await admits(projectId)).toEqual(['acme', 'umbrella'])
  await deactivateProjectGrant(context, own, call())
  expect(await admits(projectId)).toEqual(['acme'])
  await reactivateProjectGrant(context, own, call())
  expect(await admits(projectId)).toEqual(['acme', 'umbrella'])
  await removeProjectGrant(context, own, call())
  expect(await admits(projectId)).toEqual(['acme'])
})

test('a deactivated project, and one of a deactivated organization, admits nobody', async () => {
  const projectId = await newProject()
  await addProjectGrant.handle(context, { projectId, grantedOrgId: 'umbrella', roleKeys: [] }, call())
  await deactivateProject(context, { projectId }, call())
  expect(await admits(projectId)).toEqual([])
  await reactivateProject(context, { projectId }, call())
  expect(await admits(projectId)).toEqual(['acme', 'umbrella'])
  await happen('organization', 'acme', 'deactivated')
  expect(await admits(projectId)).toEqual([])
  await happen('organization', 'acme', 'reactivated')
})

const happen = (type: string, id: string, event: 'deactivated' | 'reactivated') =>
  context.store.execute({
    aggregate: { type, id },
    call: call(),
    decide: () => ({ events: [{ type: event, payload: {} }], answer: undefined }),
  })

test('what lets in a user is another one once it was interrupted', async () => {
  const projectId = await newProject()
  const granted = { projectId, grantedOrgId: 'umbrella', roleKeys: [] }
  const { grantId: projectGrantId } = await addProjectGrant.handle(context, granted, call())
  // As AddUserGrant stores it, which asks users about the user.
  const payload = { userId: 'ada', projectId, projectGrantId, roleKeys: [] }
  await context.store.execute({
    aggregate: { type: 'user_grant', id: 'given' },
    call: call('umbrella'),
    decide: () => ({ organizationId: 'umbrella', events: [{ type: 'added', payload }], answer: undefined }),
  })
  const asked = { userId: 'ada', projectId, userOrganizationId: 'umbrella' }
  const list = async () => {
    const { admissions } = await listProjectRoles(context, asked)
    return admissions.map(({ byUserGrant, eventId, since }) => ({ byUserGrant, eventId, since: since! }))
  }
  const before = await list()
  expect(before.map(({ byUserGrant }) => byUserGrant)).toEqual([false, true])
  expect(await list()).toEqual(before)
  for (const [type, id, interrupted] of [
    ['user_grant', 'given', [1]],
    ['project_grant', projectGrantId, [0, 1]],
    ['organization', 'umbrella', [1]],
  ] as const) {
    const [former, remaining] = [await list(), [0, 1].filter((index) => !interrupted.includes(index as never))]
    await happen(type, id, 'deactivated')
    expect(await list()).toEqual(remaining.map((index) => former[index]))
    await happen(type, id, 'reactivated')
    const now = await list()
    for (const index of interrupted) {
      expect(now[index]!.eventId).not.toBe(former[index]!.eventId)
      expect(now[index]!.since.getTime()).toBeGreaterThan(former[index]!.since.getTime())
    }
    for (const index of remaining) expect(now[index]).toEqual(former[index])
  }
})

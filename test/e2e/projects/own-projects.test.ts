import type { JsonObject } from '@bufbuild/protobuf'
import { beforeAll, expect, test } from 'vitest'
import { newApplication } from '../../examples/applications.ts'
import { admin, newMember, newOrganization, ok, unique } from '../../examples/people.ts'
import { newProject } from '../../examples/projects.ts'
import { factsOf } from '../clients/call.ts'
import { call } from '../clients/encodings.ts'

let home: string
let projectId: string
let other: string
let owner: Awaited<ReturnType<typeof newMember>>

beforeAll(async () => {
  home = await newOrganization()
  ;[projectId, other] = [await newProject(home, ['reader']), await newProject(home)]
  owner = await newMember(home, [])
  const roles = ['PROJECT_OWNER_VIEWER', 'PROJECT_OWNER']
  ok(await call('AddProjectMember', { userId: owner.userId, projectId, roles }, admin(home)))
})

const reason = async (operation: Parameters<typeof call>[0], request: JsonObject) =>
  factsOf(await call(operation, request, owner)).reason ?? 'ok'

test('a person finds the projects in which they have a role, by name, organization and in pages, and no others', async () => {
  const abroad = await newOrganization()
  const there = await newProject(abroad)
  const name = unique('Zwölf')
  ok(await call('UpdateProject', { projectId: there, name }, admin(abroad)))
  const member = { userId: owner.userId, projectId: there, roles: ['PROJECT_OWNER'] }
  ok(await call('AddProjectMember', member, admin(abroad)))
  const search = async (request: JsonObject = {}, caller: { token: string } = owner) =>
    ok(await call('SearchMyProjects', request, caller))
  const mine = {
    projectId,
    organizationId: home,
    state: 'PROJECT_STATE_ACTIVE',
    roles: ['PROJECT_OWNER', 'PROJECT_OWNER_VIEWER'],
  }
  const { projects, total } = await search({ withTotal: true })
  expect(projects).toMatchObject([mine, { projectId: there, organizationId: abroad, name, roles: ['PROJECT_OWNER'] }])
  expect(total).toBe(2)
  expect((await search({ organizationId: home })).projects).toMatchObject([mine])
  const text = name.slice(1).toUpperCase()
  const byName = { name: { text, method: 'TEXT_QUERY_METHOD_CONTAINS_IGNORE_CASE' } }
  expect((await search(byName)).projects).toMatchObject([{ projectId: there }])
  const first = await search({ limit: 1 })
  const second = await search({ limit: 1, cursor: first.nextCursor })
  expect([...first.projects, ...second.projects]).toEqual(projects)
  expect((await search({}, await newMember(home, ['ORG_OWNER']))).projects ?? []).toEqual([])
})

test('the owner of a project reads its history and that of its applications, the newest first, and no other one', async () => {
  const { appId } = await newApplication(home, projectId)
  const foreign = await newApplication(home, other)
  ok(await call('AddClientSecret', { projectId, appId }, owner))
  ok(await call('UpdateProject', { projectId, name: 'Renamed' }, owner))
  const read = async (operation: Parameters<typeof call>[0], request: JsonObject) => {
    const first = ok(await call(operation, { ...request, limit: 1 }, owner))
    const rest = ok(await call(operation, { ...request, cursor: first.nextCursor }, owner))
    expect(rest.nextCursor ?? '').toBe('')
    return [...first.changes, ...rest.changes].map(({ type, actor }: any) => [type, actor === owner.userId])
  }
  const changes = await read('ListApplicationChanges', { projectId, appId })
  expect(changes).toEqual([
    ['roster.application.secret.added.v1', true],
    ['roster.application.added.v1', false],
  ])
  expect(await read('ListProjectChanges', { projectId })).toEqual([
    ['roster.project.changed.v1', true],
    ['roster.project.role.added.v1', false],
    ['roster.project.added.v1', false],
  ])
  expect(await reason('ListProjectChanges', { projectId: other })).toBe('PERMISSION_DENIED')
  expect(await reason('ListApplicationChanges', { projectId: other, appId: foreign.appId })).toBe('PERMISSION_DENIED')
  expect(await reason('ListApplicationChanges', { projectId, appId: foreign.appId })).toBe('APPLICATION_NOT_FOUND')
  const cursor = 'broken'
  expect(await reason('ListProjectChanges', { projectId, cursor })).toBe('CURSOR_INVALID')
  ok(await call('RemoveApplication', { projectId, appId }, owner))
  expect(await reason('ListApplicationChanges', { projectId, appId })).toBe('APPLICATION_NOT_FOUND')
})

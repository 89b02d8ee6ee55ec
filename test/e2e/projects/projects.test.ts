import { beforeAll, describe, expect, test } from 'vitest'
import { admin, newOrganization, ok, unique } from '../../examples/people.ts'
import { newProject } from '../../examples/projects.ts'
import { factsOf } from '../clients/call.ts'
import { call as json, over } from '../clients/encodings.ts'

let home: string
let abroad: string

beforeAll(async () => {
  ;[home, abroad] = await Promise.all([newOrganization(), newOrganization()])
})

const reason = (answer: Parameters<typeof factsOf>[0]) => factsOf(answer).reason ?? 'ok'

describe.each(over('grpc'))('projects over $encoding', ({ call }) => {
  const act = async (...[operation, request]: Parameters<typeof call>) =>
    ok(await call(operation, request, admin(home)))

  test('a project is shown, renamed, deactivated, reactivated and removed, each at its sequence', async () => {
    const name = unique('Project')
    const { id: projectId, details } = await act('AddProject', { name })
    const shown = {
      id: projectId,
      projectId,
      details,
      name,
      state: 'PROJECT_STATE_ACTIVE',
      organizationId: home,
      hasProjectCheck: true,
    }
    expect((await act('GetProject', { projectId })).project).toEqual(shown)
    const { projects } = await act('SearchProjects', {})
    expect(projects.find(({ id }: any) => id === projectId)).toEqual(shown)
    expect((await act('UpdateProject', { projectId })).details.sequence).toBe('1')
    expect((await act('UpdateProject', { projectId, name })).details.sequence).toBe('1')
    expect((await act('UpdateProject', { projectId, name: 'New' })).details.sequence).toBe('2')
    expect((await act('DeactivateProject', { projectId })).details.sequence).toBe('3')
    const { project } = await act('GetProject', { projectId })
    expect(project).toMatchObject({ name: 'New', state: 'PROJECT_STATE_INACTIVE', details: { sequence: '3' } })
    expect(reason(await call('DeactivateProject', { projectId }, admin(home)))).toBe('PROJECT_ALREADY_INACTIVE')
    expect((await act('ReactivateProject', { projectId })).details.sequence).toBe('4')
    expect(reason(await call('ReactivateProject', { projectId }, admin(home)))).toBe('PROJECT_NOT_INACTIVE')
    expect((await act('RemoveProject', { projectId })).details.sequence).toBe('5')
    for (const operation of ['GetProject', 'UpdateProject', 'DeactivateProject', 'RemoveProject'] as const)
      expect(reason(await call(operation, { projectId }, admin(home)))).toBe('PROJECT_NOT_FOUND')
  })

  test('the checks of a project are kept, shown and changed by presence', async () => {
    const checks = async (projectId: string) => {
      const { project } = await act('GetProject', { projectId })
      const { projects } = await act('SearchProjects', {})
      expect(projects.find(({ id }: any) => id === projectId)).toEqual(project)
      const { projectRoleAssertion = false, projectRoleCheck = false, hasProjectCheck = false } = project
      return [projectRoleAssertion, projectRoleCheck, hasProjectCheck]
    }
    const { id: open } = await act('AddProject', { name: unique('Project'), hasProjectCheck: false })
    expect(await checks(open)).toEqual([false, false, false])
    const { id: projectId, details } = await act('AddProject', { name: unique('Project'), projectRoleCheck: true })
    expect(details.sequence).toBe('2')
    expect(await checks(projectId)).toEqual([false, true, true])
    expect((await act('UpdateProject', { projectId, projectRoleCheck: true })).details.sequence).toBe('2')
    const changed = await act('UpdateProject', { projectId, projectRoleAssertion: true, projectRoleCheck: false })
    expect(changed.details.sequence).toBe('3')
    expect(await checks(projectId)).toEqual([true, false, true])
    await act('UpdateProject', { projectId, hasProjectCheck: false })
    await act('UpdateProject', { projectId, name: 'Other' })
    expect(await checks(projectId)).toEqual([true, false, false])
  })

  test('roles are added together or not at all, found, changed by presence and removed, with a slash in the key', async () => {
    const projectId = await newProject(home, ['a/b'])
    const role = (key: string, more: object = {}) => ({ key, displayName: `Role ${key}`, ...more })
    const add = (...roles: object[]) => call('BulkAddProjectRoles', { projectId, roles } as never, admin(home))
    expect(reason(await add(role('new'), role('a/b')))).toBe('ROLE_EXISTS')
    expect(reason(await add(role('new'), role('new')))).toBe('ROLE_EXISTS')
    ok(await add(role('x y', { group: 'g' }), role('C')))
    expect((await act('SearchProjectRoles', { projectId })).roles.map(({ key }: any) => key)).toEqual([
      'C',
      'a/b',
      'x y',
    ])
    ok(await call('UpdateProjectRole', { projectId, roleKey: 'a/b', group: 'h' }, admin(home)))
    ok(await call('UpdateProjectRole', { projectId, roleKey: 'x y', displayName: 'Other', group: '' }, admin(home)))
    ok(await call('RemoveProjectRole', { projectId, roleKey: 'C' }, admin(home)))
    expect((await act('SearchProjectRoles', { projectId, withTotal: true })).total).toBe(2)
    expect((await act('SearchProjectRoles', { projectId })).roles).toEqual([
      { key: 'a/b', roleKey: 'a/b', displayName: 'a/b', group: 'h' },
      { key: 'x y', roleKey: 'x y', displayName: 'Other' },
    ])
    ok(await call('RemoveProjectRole', { projectId, roleKey: 'a/b' }, admin(home)))
    expect(reason(await call('RemoveProjectRole', { projectId, roleKey: 'a/b' }, admin(home)))).toBe('ROLE_NOT_FOUND')
    expect(reason(await call('UpdateProjectRole', { projectId, roleKey: 'no' }, admin(home)))).toBe('ROLE_NOT_FOUND')
  })

  test('a search finds roles by key and display name, page by page', async () => {
    const projectId = await newProject(home)
    const roles = Array.from({ length: 25 }, (_, n) => ({
      key: `key-${n}`,
      displayName: `Ä ${n % 2 ? 'odd' : 'EVEN'}`,
    }))
    ok(await call('BulkAddProjectRoles', { projectId, roles }, admin(home)))
    const displayName = { text: 'ä even', method: 'TEXT_QUERY_METHOD_EQUALS_IGNORE_CASE' }
    const found: string[] = []
    for (let cursor = ''; ;) {
      const page = await act('SearchProjectRoles', { projectId, displayName, limit: 4, cursor })
      found.push(...page.roles.map(({ key }: any) => key))
      if (!(cursor = page.nextCursor ?? '')) break
    }
    expect(found).toEqual(
      roles
        .filter((_, n) => n % 2 === 0)
        .map(({ key }) => key)
        .toSorted(),
    )
    const key = { text: 'key-1', method: 'TEXT_QUERY_METHOD_STARTS_WITH' }
    expect((await act('SearchProjectRoles', { projectId, key })).roles).toHaveLength(11)
    const { nextCursor } = await act('SearchProjectRoles', { projectId, limit: 4 })
    const other = await call('SearchProjectRoles', { projectId, key, cursor: nextCursor }, admin(home))
    expect(reason(other)).toBe('CURSOR_INVALID')
  })
})

describe('a search of projects', () => {
  const names = async (organization: string, request: object = {}) =>
    (ok(await json('SearchProjects', { ...request }, admin(organization))).projects ?? []).map(({ name }: any) => name)

  test('finds them at once by name and state, in both orders, and only those of the organization', async () => {
    const organization = await newOrganization()
    await newProject(abroad)
    const add = async (name: string) => ok(await json('AddProject', { name }, admin(organization))).id as string
    for (const name of ['beta', 'Alpha', 'ＡＬＰＨＡ 2']) await add(name)
    const last = await add('Gamma')
    expect(await names(organization)).toEqual(['Alpha', 'ＡＬＰＨＡ 2', 'beta', 'Gamma'])
    expect(await names(organization, { descending: true, limit: 2 })).toEqual(['Gamma', 'beta'])
    const byAge = { sortingColumn: 'PROJECT_FIELD_NAME_CREATION_DATE' }
    expect(await names(organization, byAge)).toEqual(['beta', 'Alpha', 'ＡＬＰＨＡ 2', 'Gamma'])
    const name = { text: 'alpha', method: 'TEXT_QUERY_METHOD_CONTAINS_IGNORE_CASE' }
    expect(await names(organization, { name })).toEqual(['Alpha', 'ＡＬＰＨＡ 2'])
    expect(await names(organization, { name: { ...name, method: 'TEXT_QUERY_METHOD_CONTAINS' } })).toEqual([])
    ok(await json('DeactivateProject', { projectId: last }, admin(organization)))
    expect(await names(organization, { state: 'PROJECT_STATE_INACTIVE' })).toEqual(['Gamma'])
    ok(await json('UpdateProject', { projectId: last, name: 'aardvark' }, admin(organization)))
    expect(await names(organization)).toEqual(['aardvark', 'Alpha', 'ＡＬＰＨＡ 2', 'beta'])
    ok(await json('RemoveProject', { projectId: last }, admin(organization)))
    expect(await names(organization, { state: 'PROJECT_STATE_INACTIVE' })).toEqual([])
  })
})

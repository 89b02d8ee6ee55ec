import { beforeAll, describe, expect, test } from 'vitest'
import { admin, newHuman, newMember, newOrganization, ok, unique } from '../../examples/people.ts'
import { grantProject, newProject } from '../../examples/projects.ts'
import { userGrants } from '../../examples/user-grants.ts'
import { factsOf } from '../clients/call.ts'
import { call as json, over } from '../clients/encodings.ts'

let home: string
let abroad: string

beforeAll(async () => {
  ;[home, abroad] = await Promise.all([newOrganization(), newOrganization()])
})

const soon = { timeout: 20_000 }
const reason = (answer: Parameters<typeof factsOf>[0]) => factsOf(answer).reason ?? 'ok'
const { act, give, rolesOf, holdersOf } = userGrants(() => home)

describe.each(over('connect'))('grants over $encoding', ({ call }) => {
  const here = async (...[operation, request]: Parameters<typeof call>) =>
    ok(await call(operation, request, admin(home)))

  test('a user grant is changed, deactivated, reactivated and removed, and given again', async () => {
    const projectId = await newProject(home, ['reader', 'writer'])
    const { userId, grantId } = await give(projectId, ['reader'])
    const request = { userId, grantId }
    expect((await here('UpdateUserGrant', { ...request, roleKeys: ['reader'] })).details.sequence).toBe('1')
    const roleKeys = ['writer', 'reader', 'writer']
    expect((await here('UpdateUserGrant', { ...request, roleKeys })).details.sequence).toBe('2')
    expect((await here('UpdateUserGrant', { ...request, roleKeys: ['reader', 'writer'] })).details.sequence).toBe('2')
    const refused = factsOf(await call('UpdateUserGrant', { ...request, roleKeys: ['no'] }, admin(home)))
    expect(refused).toMatchObject({ code: 9, reason: 'ROLE_NOT_FOUND', metadata: { roleKeys: '["no"]' } })
    expect(await rolesOf(projectId, userId)).toEqual(['writer', 'reader'])
    expect((await here('DeactivateUserGrant', request)).details.sequence).toBe('3')
    expect((await here('GetUserGrant', request)).userGrant.state).toBe('USER_GRANT_STATE_INACTIVE')
    expect(await rolesOf(projectId, userId)).toEqual([])
    expect(reason(await call('DeactivateUserGrant', request, admin(home)))).toBe('USER_GRANT_ALREADY_INACTIVE')
    await here('ReactivateUserGrant', request)
    expect(reason(await call('ReactivateUserGrant', request, admin(home)))).toBe('USER_GRANT_NOT_INACTIVE')
    expect(await rolesOf(projectId, userId)).toEqual(['writer', 'reader'])
    await here('RemoveUserGrant', request)
    for (const operation of ['GetUserGrant', 'UpdateUserGrant', 'DeactivateUserGrant', 'RemoveUserGrant'] as const)
      expect(reason(await call(operation, request, admin(home)))).toBe('USER_GRANT_NOT_FOUND')
    expect((await here('AddUserGrant', { userId, projectId })).userGrantId).not.toBe(grantId)
  })

  test('a project grant is shown to both sides, changed, deactivated, reactivated and removed', async () => {
    const projectId = await newProject(home, ['reader', 'writer'])
    const { name } = (await here('GetProject', { projectId })).project
    const grantId = await grantProject(home, projectId, abroad, ['reader', 'writer'])
    const request = { projectId, grantId }
    const shown = {
      grantId,
      projectGrantId: grantId,
      grantedOrgId: abroad,
      grantedRoleKeys: ['reader', 'writer'],
      state: 'PROJECT_GRANT_STATE_ACTIVE',
      projectId,
      projectName: name,
      projectOwnerId: home,
      details: expect.objectContaining({ sequence: '1' }),
    }
    expect((await here('GetProjectGrant', request)).projectGrant).toEqual(shown)
    expect((await here('SearchProjectGrants', { projectId })).projectGrants).toEqual([shown])
    expect(ok(await call('GetGrantedProject', request, admin(abroad))).grantedProject).toEqual(shown)
    const search = { name: { text: name, method: 'TEXT_QUERY_METHOD_EQUALS' } }
    expect(ok(await call('SearchGrantedProjects', search, admin(abroad))).grantedProjects).toEqual([shown])
    const { userId } = await give(projectId, ['reader', 'writer'], abroad)
    expect((await here('UpdateProjectGrant', { ...request, roleKeys: ['writer'] })).details.sequence).toBe('2')
    expect(await rolesOf(projectId, userId)).toEqual(['writer'])
    const more = await call('UpdateProjectGrant', { ...request, roleKeys: ['no'] }, admin(home))
    expect(reason(more)).toBe('ROLE_NOT_FOUND')
    await here('DeactivateProjectGrant', request)
    expect(reason(await call('DeactivateProjectGrant', request, admin(home)))).toBe('PROJECT_GRANT_ALREADY_INACTIVE')
    expect(
      (await here('SearchProjectGrants', { state: 'PROJECT_GRANT_STATE_INACTIVE', projectId })).projectGrants,
    ).toHaveLength(1)
    expect(await rolesOf(projectId, userId)).toEqual([])
    const late = { userId: (await newHuman(abroad)).userId, projectId }
    expect(reason(await call('AddUserGrant', late, admin(abroad)))).toBe('PROJECT_GRANT_INACTIVE')
    await here('ReactivateProjectGrant', request)
    expect(reason(await call('ReactivateProjectGrant', request, admin(home)))).toBe('PROJECT_GRANT_NOT_INACTIVE')
    expect(await rolesOf(projectId, userId)).toEqual(['writer'])
    await here('RemoveProjectGrant', request)
    for (const operation of ['GetProjectGrant', 'UpdateProjectGrant', 'RemoveProjectGrant'] as const)
      expect(reason(await call(operation, request, admin(home)))).toBe('PROJECT_GRANT_NOT_FOUND')
    expect(reason(await call('GetGrantedProject', request, admin(abroad)))).toBe('PROJECT_GRANT_NOT_FOUND')
    expect(reason(await call('AddUserGrant', late, admin(abroad)))).toBe('PROJECT_NOT_FOUND')
    expect(await rolesOf(projectId, userId)).toEqual([])
    await grantProject(home, projectId, abroad, [])
  })

  test('searches of user grants have every filter, and find a write at once', async () => {
    const organization = await newOrganization()
    const projects = [await newProject(organization, ['reader', 'writer']), await newProject(organization, ['reader'])]
    const grants = [
      await give(projects[0]!, ['reader', 'writer'], organization),
      await give(projects[0]!, ['writer'], organization),
      await give(projects[1]!, ['reader'], organization),
    ]
    const find = async (request: object) => {
      const found = ok(await call('SearchUserGrants', { ...request, limit: 2 }, admin(organization)))
      const ids = (found.userGrants ?? []).map(({ id }: any) => id)
      if (!found.nextCursor) return ids
      const next = { ...request, limit: 2, cursor: found.nextCursor }
      const rest = ok(await call('SearchUserGrants', next, admin(organization)))
      return [...ids, ...rest.userGrants.map(({ id }: any) => id)]
    }
    const ids = (...numbers: number[]) => numbers.map((n) => grants[n]!.grantId)
    expect(await find({})).toEqual(ids(0, 1, 2))
    expect(await find({ projectId: projects[0]! })).toEqual(ids(0, 1))
    expect(await find({ userId: grants[1]!.userId })).toEqual(ids(1))
    expect(await find({ roleKey: 'reader' })).toEqual(ids(0, 2))
    expect(await find({ roleKey: 'reader', projectId: projects[1]! })).toEqual(ids(2))
    const { project } = ok(await call('GetProject', { projectId: projects[1]! }, admin(organization)))
    const projectName = { text: project.name.toUpperCase(), method: 'TEXT_QUERY_METHOD_CONTAINS_IGNORE_CASE' }
    expect(await find({ projectName })).toEqual(ids(2))
    const { userId, grantId } = grants[0]!
    ok(await call('DeactivateUserGrant', { userId, grantId }, admin(organization)))
    expect(await find({ state: 'USER_GRANT_STATE_INACTIVE' })).toEqual(ids(0))
    expect(await find({ state: 'USER_GRANT_STATE_ACTIVE' })).toEqual(ids(1, 2))
    ok(await call('UpdateUserGrant', { userId, grantId, roleKeys: ['writer'] }, admin(organization)))
    expect(await find({ roleKey: 'reader' })).toEqual(ids(2))
    ok(await call('RemoveUserGrant', { userId, grantId }, admin(organization)))
    expect(await find({})).toEqual(ids(1, 2))
    expect(await find({ projectGrantId: 'none' })).toEqual([])
  })
})

describe.each(over('json'))('filters by names of users over $encoding', ({ call }) => {
  test('find the grants of the own users page by page, at once, and nothing of the users of others', async () => {
    const organization = await newOrganization()
    const projects = [await newProject(organization, ['reader']), await newProject(organization)]
    const named = (firstName: string, where = organization) =>
      newHuman(where, { profile: { firstName, lastName: 'Ötzi' }, userName: `${unique('u')}-${firstName}` })
    const users = [await named('Anna'), await named('Annabel'), await named('Bob'), await named('Anna', abroad)]
    const grants = new Map<string, string[]>()
    for (const { userId } of users)
      for (const projectId of projects) {
        const { userGrantId } = await act('AddUserGrant', { userId, projectId }, admin(organization))
        grants.set(userId, [...(grants.get(userId) ?? []), userGrantId])
      }
    const find = async (request: object) => {
      const ids: string[] = []
      for (let cursor = ''; ;) {
        const page = ok(await call('SearchUserGrants', { ...request, limit: 1, cursor }, admin(organization)))
        ids.push(...(page.userGrants ?? []).map(({ id }: any) => id))
        if (!(cursor = page.nextCursor ?? '')) return ids.toSorted()
      }
    }
    const of = (...numbers: number[]) => numbers.flatMap((n) => grants.get(users[n]!.userId)!).toSorted()
    const starting = (text: string) => ({ text, method: 'TEXT_QUERY_METHOD_STARTS_WITH_IGNORE_CASE' })
    expect(await find({ firstName: starting('anna') })).toEqual(of(0, 1))
    expect(await find({ firstName: { text: 'Anna' } })).toEqual(of(0))
    expect(await find({ lastName: starting('ö') })).toEqual(of(0, 1, 2))
    expect(await find({ lastName: starting('ö'), userId: users[2]!.userId })).toEqual(of(2))
    expect(await find({ lastName: starting('ö'), userId: users[3]!.userId })).toEqual([])
    expect(await find({ email: { text: users[1]!.email } })).toEqual(of(1))
    expect(await find({ email: { text: users[3]!.email } })).toEqual([])
    expect(await find({ userName: { text: 'bob', method: 'TEXT_QUERY_METHOD_ENDS_WITH_IGNORE_CASE' } })).toEqual(of(2))
    const projectId = projects[1]!
    expect(await find({ firstName: starting('anna'), projectId })).toHaveLength(2)
    ok(await call('DeleteUser', { userId: users[0]!.userId }, admin(organization)))
    expect(await find({ firstName: starting('anna') })).toEqual(of(1))
  })
})

test('a caller without user.read finds no grant by a name or an address, not even in the own project', async () => {
  const projectId = await newProject(home)
  const filter = { text: 'a', method: 'TEXT_QUERY_METHOD_STARTS_WITH' }
  const find = (fields: object, { token }: { token: string }) =>
    json('SearchUserGrants', { projectId, ...fields }, { token, organization: home })
  for (const role of ['PROJECT_OWNER', 'PROJECT_OWNER_VIEWER']) {
    const member = await newMember(home, [])
    ok(await json('AddProjectMember', { projectId, userId: member.userId, roles: [role] }, admin(home)))
    await expect.poll(async () => reason(await find({}, member)), soon).toBe('ok')
    expect(reason(await find({ projectName: filter }, member))).toBe('ok')
    for (const field of ['userName', 'firstName', 'lastName', 'displayName', 'email'])
      expect([field, reason(await find({ [field]: filter }, member))]).toEqual([field, 'PERMISSION_DENIED'])
  }
  const reader = await newMember(home, ['ORG_USER_PERMISSION_EDITOR'])
  expect(reason(await find({ email: filter }, reader))).toBe('ok')
})

describe('a user', () => {
  test('finds the own grants of all organizations, and the own permissions', async () => {
    const member = await newMember(home, ['ORG_USER_MANAGER'])
    const { userId } = member
    const request = async (organization: string) => ({ userId, projectId: await newProject(organization) })
    await act('AddUserGrant', await request(home))
    await act('AddUserGrant', await request(abroad), admin(abroad))
    const { userGrants } = await act('SearchMyGrants', {}, member)
    expect(userGrants.map(({ organizationId }: any) => organizationId)).toEqual([home, abroad])
    const { permissions } = await act('GetMyPermissions', {}, member)
    expect(permissions).toContain('user.grant.write')
    expect(permissions).not.toContain('org.member.write')
    expect(permissions.filter((name: string) => name.startsWith('iam.'))).toEqual([])
    const roleless = await newMember(home, [])
    expect((await act('GetMyPermissions', {}, roleless)).permissions ?? []).toEqual([])
    const all = (await act('GetMyPermissions', {})).permissions
    const owner = (await act('GetMyPermissions', {}, await newMember(home, ['ORG_OWNER']))).permissions
    expect(all).toEqual(expect.arrayContaining(['org.create', ...owner]))
    expect(owner).not.toContain('org.create')
    // What holds in every organization is told apart.
    const { instancePermissions } = await act('GetMyPermissions', {})
    expect(instancePermissions).toEqual(all)
    expect((await act('GetMyPermissions', {}, member)).instancePermissions ?? []).toEqual([])
  })

  test('has the roles that every organization gave, which only the owner of the project sees together', async () => {
    const projectId = await newProject(home, ['reader', 'writer'])
    await grantProject(home, projectId, abroad, ['reader'])
    const { userId } = await give(projectId, ['writer'])
    await act('AddUserGrant', { userId, projectId, roleKeys: ['reader'] }, admin(abroad))
    expect((await rolesOf(projectId, userId)).toSorted()).toEqual(['reader', 'writer'])
    expect(await rolesOf(projectId, userId, abroad)).toEqual(['reader'])
    expect(await holdersOf(projectId, 'writer')).toEqual([userId])
    expect(await holdersOf(projectId, 'reader')).toEqual([userId])
    expect(await holdersOf(projectId, 'writer', abroad)).toEqual([])
    await act('DeactivateProject', { projectId })
    expect(await rolesOf(projectId, userId)).toEqual([])
    expect(await holdersOf(projectId, 'writer')).toEqual([])
    const late = { userId: (await newHuman(home)).userId, projectId }
    expect(reason(await json('AddUserGrant', late, admin(home)))).toBe('PROJECT_INACTIVE')
    const grant = { projectId, grantedOrgId: await newOrganization() }
    expect(reason(await json('AddProjectGrant', grant, admin(home)))).toBe('PROJECT_INACTIVE')
  })
})

import { beforeAll, describe, expect, test } from 'vitest'
import { admin, newHuman, newOrganization, ok } from '../../examples/people.ts'
import { grantProject, newProject } from '../../examples/projects.ts'
import { userGrants } from '../../examples/user-grants.ts'
import { factsOf } from '../clients/call.ts'
import { call as json } from '../clients/encodings.ts'

let home: string
let abroad: string

beforeAll(async () => {
  ;[home, abroad] = await Promise.all([newOrganization(), newOrganization()])
})

const soon = { timeout: 20_000 }
const reason = (answer: Parameters<typeof factsOf>[0]) => factsOf(answer).reason ?? 'ok'
const { act, give, rolesOf, holdersOf, grantOf } = userGrants(() => home)

describe('what was built on something that is gone', () => {
  test('goes with a role: it counts no more at once, and every grant loses it, by events that name the cause', async () => {
    const projectId = await newProject(home, ['reader', 'writer'])
    const projectGrant = { projectId, grantId: await grantProject(home, projectId, abroad, ['reader']) }
    const [both, only] = [await give(projectId, ['reader', 'writer']), await give(projectId, ['reader'])]
    const foreign = await give(projectId, ['reader'], abroad)
    const empty = await give(projectId, [])
    await act('RemoveProjectRole', { projectId, roleKey: 'reader' })
    expect(await rolesOf(projectId, both.userId)).toEqual(['writer'])
    expect(await rolesOf(projectId, only.userId)).toEqual([])
    expect(await holdersOf(projectId, 'reader')).toEqual([])
    // The role is there once more, but the grants of before do not get it back.
    await act('AddProjectRole', { projectId, roleKey: 'reader', displayName: 'R' })
    const later = await give(projectId, ['reader'])
    await expect.poll(async () => reason(await grantOf(only)), soon).toBe('USER_GRANT_NOT_FOUND')
    await expect.poll(async () => reason(await grantOf(foreign, abroad)), soon).toBe('USER_GRANT_NOT_FOUND')
    await expect.poll(async () => ok(await grantOf(both)).userGrant.roleKeys, soon).toEqual(['writer'])
    const left = async () => (await act('GetProjectGrant', projectGrant)).projectGrant.grantedRoleKeys
    await expect.poll(left, soon).toBeUndefined()
    expect(await rolesOf(projectId, later.userId)).toEqual(['reader'])
    expect(reason(await grantOf(empty))).toBe('ok')
    const { events } = await act('SearchOrganizationEvents', { filter: { aggregateIds: [only.grantId, projectId] } })
    const [removal, loss] = ['roster.project.role.removed.v1', 'roster.user_grant.removed.v1'].map((type) =>
      events.find((event: any) => event.type === type),
    )
    expect(loss).toMatchObject({ causationId: removal.id, actor: removal.actor, requestId: removal.requestId })
  })

  test('goes with a role of a project grant, from the user grants under it alone', async () => {
    const projectId = await newProject(home, ['reader', 'writer'])
    const third = await newOrganization()
    const grantId = await grantProject(home, projectId, abroad, ['reader', 'writer'])
    await grantProject(home, projectId, third, ['reader', 'writer'])
    const [mine, under, other] = [
      await give(projectId, ['reader', 'writer']),
      await give(projectId, ['reader', 'writer'], abroad),
      await give(projectId, ['reader', 'writer'], third),
    ]
    const last = await give(projectId, ['reader'], abroad)
    await act('UpdateProjectGrant', { projectId, grantId, roleKeys: ['writer'] })
    await expect.poll(async () => reason(await grantOf(last, abroad)), soon).toBe('USER_GRANT_NOT_FOUND')
    await expect.poll(async () => ok(await grantOf(under, abroad)).userGrant.roleKeys, soon).toEqual(['writer'])
    for (const [grant, organization] of [
      [mine, home],
      [other, third],
    ] as const)
      expect(ok(await grantOf(grant, organization)).userGrant.roleKeys).toEqual(['reader', 'writer'])
  })

  test('goes with a project, and with a project grant', async () => {
    const [projectId, kept] = [await newProject(home, ['reader']), await newProject(home, ['reader'])]
    const grants = [await grantProject(home, projectId, abroad, []), await grantProject(home, kept, abroad, [])]
    const [mine, theirs] = [await give(projectId, ['reader']), await give(projectId, [], abroad)]
    const [stays, goes] = [await give(kept, ['reader']), await give(kept, [], abroad)]
    await act('RemoveProject', { projectId })
    expect(reason(await json('GetProjectGrant', { projectId, grantId: grants[0]! }, admin(home)))).toBe(
      'PROJECT_GRANT_NOT_FOUND',
    )
    await act('RemoveProjectGrant', { projectId: kept, grantId: grants[1]! })
    for (const [grant, organization] of [
      [mine, home],
      [theirs, abroad],
      [goes, abroad],
    ] as const)
      await expect.poll(async () => reason(await grantOf(grant, organization)), soon).toBe('USER_GRANT_NOT_FOUND')
    expect(reason(await grantOf(stays))).toBe('ok')
    expect((await act('SearchUserGrants', { projectId })).userGrants).toBeUndefined()
    expect(
      (await act('SearchGrantedProjects', {}, admin(abroad))).grantedProjects?.map(({ projectId: id }: any) => id) ??
        [],
    ).not.toContain(projectId)
  })

  test('goes even if it is given while the role is being removed', { timeout: 60_000 }, async () => {
    for (let round = 0; round < 8; round++) {
      const projectId = await newProject(home, ['reader', 'writer'])
      const users = await Promise.all(Array.from({ length: 8 }, () => newHuman(home)))
      const grants = await Promise.all(users.slice(0, 4).map(() => give(projectId, ['writer'])))
      const gifts = () => [
        ...users.map(({ userId }) => json('AddUserGrant', { userId, projectId, roleKeys: ['reader'] }, admin(home))),
        ...grants.map((grant) => json('UpdateUserGrant', { ...grant, roleKeys: ['reader'] }, admin(home))),
      ]
      const late = gifts()
      const removal = json('RemoveProjectRole', { projectId, roleKey: 'reader' }, admin(home))
      for (const answer of await Promise.all([...late, ...gifts(), removal]))
        expect(['ok', 'ROLE_NOT_FOUND', 'USER_GRANT_EXISTS', 'USER_GRANT_NOT_FOUND']).toContain(reason(answer))
      const left = async () => (await act('SearchUserGrants', { projectId, roleKey: 'reader' })).userGrants ?? []
      await expect.poll(left, soon).toEqual([])
    }
  })
})

import { beforeAll, describe, expect, test } from 'vitest'
import { admin, newHuman, newOrganization, ok } from '../../examples/people.ts'
import { grantProject, newProject } from '../../examples/projects.ts'
import { over } from '../clients/encodings.ts'
import { effects, faults, kinds } from './answers.ts'

let home: string
let abroad: string

beforeAll(async () => {
  ;[home, abroad] = await Promise.all([newOrganization(), newOrganization()])
})

describe.each(over('connect'))('an explanation over $encoding', ({ call }) => {
  const act = async (...[operation, request, options = admin(home)]: Parameters<typeof call>) =>
    ok(await call(operation, request, options))
  const explain = (userId: string, question: object, options = admin(home)) =>
    act('ExplainPermission', { userId, ...question }, options)

  test('before, between and after three changes of a user’s roles, now and as of then', async () => {
    const { userId } = await newHuman(home)
    const question = { permission: 'project.write' }
    const answers = [await explain(userId, question)]
    const changes = [
      () => act('AddOrganizationMember', { userId, roles: ['ORG_OWNER'] }),
      () => act('UpdateOrganizationMember', { userId, roles: ['ORG_USER_MANAGER'] }),
      () => act('RemoveOrganizationMember', { userId }),
    ]
    for (const change of changes) {
      await change()
      answers.push(await explain(userId, question))
    }
    expect(answers.map(({ allowed = false }) => allowed)).toEqual([false, true, false, false])
    const [none, given, changed, removed] = answers
    expect(none).toMatchObject({ userId, organizationId: home, permission: 'project.write' })
    expect(none).not.toHaveProperty('grounds')
    expect(given.grounds).toMatchObject([
      { kind: 'GROUND_KIND_MEMBERSHIP', organizationId: home, roles: ['ORG_OWNER'], allows: true },
    ])
    expect(faults(changed.grounds[0])).toEqual(['LACKS_ROLE'])
    expect(faults(removed.grounds[0])).toEqual(['REMOVED', 'LACKS_ROLE'])
    expect(effects(removed.grounds[0])).toEqual(['roster.member.added.v1 GAVE', 'roster.member.changed.v1 TOOK'])
    const [gave, took] = removed.grounds[0].events
    expect(gave).toMatchObject({ id: `grants-${gave.position}`, actor: 'admin-machine' })

    const asOf = (asOfPosition: number) => explain(userId, { ...question, asOfPosition: String(asOfPosition) })
    expect((await asOf(gave.position)).grounds).toEqual(given.grounds)
    expect((await asOf(took.position)).grounds).toEqual(changed.grounds)
    expect((await explain(userId, { ...question, asOfTime: gave.time })).allowed).toBe(true)
    expect(kinds((await asOf(0)).obstacles)).toEqual(['USER_UNKNOWN'])
  })

  test('an operation: by a role, for the user itself, for anybody', async () => {
    const { userId } = await newHuman(home)
    const operation = '/roster.users.v1.UserService/SetEmail'
    expect(await explain(userId, { operation })).not.toHaveProperty('allowed')
    const own = await explain(userId, { operation, own: true })
    expect([own.allowed, own.permission, kinds(own.grounds)]).toEqual([true, 'user.write', ['NO_PERMISSION_NEEDED']])
    const session = '/roster.users.v1.SessionService/CreateSession'
    await act('LockUser', { userId })
    expect((await explain(userId, { operation: session })).allowed).toBe(true)
    const locked = await explain(userId, { operation, own: true })
    expect([locked.allowed ?? false, kinds(locked.obstacles)]).toEqual([false, ['USER_LOCKED']])
    expect(effects(locked.obstacles[0])).toEqual(['roster.user.locked.v1 TOOK'])
    const before = new Date(new Date(locked.obstacles[0].events[0].time).getTime() - 1).toISOString()
    expect((await explain(userId, { operation, own: true, asOfTime: before })).allowed).toBe(true)
  })

  test('a role of a granted project, by way of the project grant, and why it does not count any more', async () => {
    const projectId = await newProject(abroad, ['reader'])
    const grantId = await grantProject(abroad, projectId, home, ['reader'])
    const { userId } = await newHuman(home)
    const { userGrantId } = await act('AddUserGrant', { userId, projectId, roleKeys: ['reader'] })
    const question = { role: { projectId, roleKey: 'reader' } }
    const held = await explain(userId, question)
    expect(held.allowed).toBe(true)
    expect(held.grounds).toMatchObject([
      { kind: 'GROUND_KIND_USER_GRANT', id: userGrantId, projectGrantId: grantId, allows: true },
      { kind: 'GROUND_KIND_PROJECT_GRANT', id: grantId, organizationId: abroad, allows: true },
    ])
    await act('DeactivateProjectGrant', { projectId, grantId }, admin(abroad))
    const inactive = await explain(userId, question)
    expect(inactive).not.toHaveProperty('allowed')
    expect(inactive.grounds.map(faults)).toEqual([['PROJECT_GRANT'], ['INACTIVE']])
    await act('RemoveProjectGrant', { projectId, grantId }, admin(abroad))
    await expect
      .poll(async () => (await explain(userId, question)).grounds.map(faults))
      .toEqual([
        ['REMOVED', 'PROJECT_GRANT'],
        ['REMOVED', 'INACTIVE'],
      ])
    await act('RemoveProjectRole', { projectId, roleKey: 'reader' }, admin(abroad))
    const { obstacles } = await explain(userId, question)
    expect([kinds(obstacles), effects(obstacles[0])]).toEqual([
      ['ROLE_MISSING'],
      ['roster.project.role.added.v1 GAVE', 'roster.project.role.removed.v1 TOOK'],
    ])
  })
})

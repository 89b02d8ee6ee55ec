import { beforeAll, describe, expect, test } from 'vitest'
import { admin, newHuman, newMember, newOrganization, ok } from '../../examples/people.ts'
import { grantProject, newProject } from '../../examples/projects.ts'
import { factsOf } from '../clients/call.ts'
import { call as json } from '../clients/encodings.ts'
import { effects, faults, kinds } from './answers.ts'

let home: string
let abroad: string

beforeAll(async () => {
  ;[home, abroad] = await Promise.all([newOrganization(), newOrganization()])
})

describe('what stands outside', () => {
  const explain = async (userId: string, question: object, options: Parameters<typeof json>[2]) =>
    ok(await json('ExplainPermission', { userId, ...question }, options))

  test('a role on the instance counts, and only callers of the instance see it', async () => {
    const manager = await newMember(home, ['ORG_USER_MANAGER'])
    const { userId } = await newHuman(home)
    ok(await json('AddInstanceMember', { userId, roles: ['IAM_OWNER_VIEWER'] }, admin()))
    const question = { permission: 'org.read' }
    const answer = await explain(userId, question, { token: manager.token })
    expect(answer).toMatchObject({ allowed: true, hidden: true })
    expect(answer).not.toHaveProperty('grounds')
    const seen = await explain(userId, question, admin(home))
    expect(seen.hidden).toBeUndefined()
    expect(seen.grounds).toMatchObject([{ organizationId: 'roster', roles: ['IAM_OWNER_VIEWER'], allows: true }])
    ok(await json('RemoveInstanceMember', { userId }, admin()))
    expect(await explain(userId, question, { token: manager.token })).toEqual({
      userId,
      organizationId: home,
      permission: 'org.read',
    })
  })

  test('a membership elsewhere shows to those who may read there, and to the user itself', async () => {
    const user = await newMember(home, [])
    const manager = await newMember(home, ['ORG_OWNER'])
    ok(await json('AddOrganizationMember', { userId: user.userId, roles: ['ORG_OWNER'] }, admin(abroad)))
    const question = { permission: 'project.write' }
    expect(await explain(user.userId, question, { token: manager.token })).not.toHaveProperty('grounds')
    const seen = await explain(user.userId, question, admin(home))
    expect(seen.grounds.map(faults)).toEqual([['ELSEWHERE']])
    const own = await explain(user.userId, question, { token: user.token })
    expect(own.grounds.map(faults)).toEqual([['ELSEWHERE']])
    const there = await explain(user.userId, question, { token: user.token, organization: abroad })
    expect(there).toMatchObject({ allowed: true, organizationId: abroad })
  })

  test('a user without `org.read` sees its own membership, and not who gave it', async () => {
    const projectId = await newProject(home)
    const user = await newMember(home, [])
    ok(await json('AddProjectMember', { userId: user.userId, projectId, roles: ['PROJECT_OWNER'] }, admin(home)))
    const question = { permission: 'project.write' }
    const elsewhere = await explain(user.userId, question, { token: user.token })
    expect([elsewhere.allowed, elsewhere.grounds.map(faults)]).toEqual([undefined, [['ELSEWHERE']]])
    const { allowed, grounds } = await explain(user.userId, { ...question, projectId }, { token: user.token })
    expect([allowed, grounds[0].projectId]).toEqual([true, projectId])
    expect(grounds[0].events[0]).not.toHaveProperty('actor')
  })

  test('the owner of a project sees grants of others without their actors', async () => {
    const projectId = await newProject(home, ['reader'])
    await grantProject(home, projectId, abroad, ['reader'])
    const { userId } = await newHuman(home)
    const asker = await newMember(home, ['ORG_OWNER'])
    ok(await json('AddUserGrant', { userId, projectId, roleKeys: ['reader'] }, admin(abroad)))
    const question = { role: { projectId, roleKey: 'reader' } }
    const answer = await explain(userId, question, { token: asker.token })
    expect(answer).toMatchObject({ allowed: true, grounds: [{ organizationId: abroad }, { organizationId: home }] })
    expect(answer.grounds[0].events[0]).not.toHaveProperty('actor')
    expect(answer.grounds[1].events[0]).toHaveProperty('actor')
  })

  test('an organization that lost its grant of a project learns nothing more of the project', async () => {
    const projectId = await newProject(abroad, ['reader'])
    const grantId = await grantProject(abroad, projectId, home, ['reader'])
    const { userId } = await newHuman(home)
    const asker = await newMember(home, ['ORG_OWNER'])
    const question = { role: { projectId, roleKey: 'reader' } }
    ok(await json('DeactivateProject', { projectId }, admin(abroad)))
    const answer = await explain(userId, question, { token: asker.token })
    expect([kinds(answer.obstacles), answer.obstacles[0].events]).toEqual([['PROJECT_CLOSED'], undefined])
    ok(await json('RemoveProjectGrant', { projectId, grantId }, admin(abroad)))
    const { grounds, obstacles, allowed } = await explain(userId, question, { token: asker.token })
    expect([allowed, obstacles, grounds.map(faults)]).toEqual([undefined, undefined, [['REMOVED']]])
  })

  test('roles of others show only to callers who may read members', async () => {
    const user = await newMember(home, ['ORG_OWNER'])
    const manager = await newMember(home, ['ORG_USER_MANAGER'])
    const viewer = await newMember(home, ['ORG_OWNER_VIEWER'])
    const question = { permission: 'project.write' }
    const answer = await explain(user.userId, question, { token: manager.token })
    expect(answer).toEqual({
      userId: user.userId,
      organizationId: home,
      permission: 'project.write',
      allowed: true,
      hidden: true,
    })
    for (const { token } of [user, viewer])
      expect((await explain(user.userId, question, { token })).grounds).toMatchObject([{ roles: ['ORG_OWNER'] }])
  })

  test('memberships that strangers gave are neither shown to others nor counted', async () => {
    const user = await newMember(home, [])
    const owner = await newMember(home, ['ORG_OWNER'])
    const projects = await Promise.all(Array.from({ length: 22 }, () => newProject(abroad)))
    for (const projectId of projects)
      ok(await json('AddProjectMember', { userId: user.userId, projectId, roles: ['PROJECT_OWNER'] }, admin(abroad)))
    const question = { permission: 'project.write' }
    const answer = await explain(user.userId, question, { token: owner.token })
    expect(answer).toEqual({ userId: user.userId, organizationId: home, permission: 'project.write' })
    const own = await explain(user.userId, question, { token: user.token })
    expect([own.grounds.length, own.incomplete]).toEqual([20, true])
  })

  test('a user without roles learns nothing of projects, only of a role that it was given', async () => {
    const projectId = await newProject(home, ['reader', 'secret'])
    const user = await newMember(home, [])
    const ask = (project: string, roleKey: string) =>
      explain(user.userId, { role: { projectId: project, roleKey } }, { token: user.token })
    const nothing = { userId: user.userId, organizationId: home }
    for (const [project, roleKey] of [
      [projectId, 'secret'],
      [projectId, 'none'],
      ['unknown', 'none'],
    ])
      expect(await ask(project!, roleKey!)).toEqual(nothing)
    ok(await json('AddUserGrant', { userId: user.userId, projectId, roleKeys: ['reader'] }, admin(home)))
    ok(await json('DeactivateProject', { projectId }, admin(home)))
    const held = await ask(projectId, 'reader')
    expect([held.allowed, held.obstacles, held.grounds[0].roles]).toEqual([
      undefined,
      [{ kind: 'OBSTACLE_KIND_PROJECT_CLOSED' }],
      ['reader'],
    ])
    const [secret, none] = [await ask(projectId, 'secret'), await ask(projectId, 'none')]
    expect(secret).not.toHaveProperty('obstacles')
    expect(secret).toEqual(none)
  })

  test('a time that is to come is now', async () => {
    const user = await newMember(home, ['ORG_OWNER'])
    const ask = (asOf: object) => explain(user.userId, { permission: 'project.write', ...asOf }, { token: user.token })
    const now = await ask({})
    expect(now.allowed).toBe(true)
    expect(await ask({ asOfTime: '2999-01-01T00:00:00Z' })).toEqual(now)
  })

  test('whether there is the project of an operation is not looked at', async () => {
    const owner = await newMember(home, ['ORG_OWNER'])
    const operation = '/roster.grants.v1.ProjectService/UpdateProject'
    const answers = await Promise.all(
      [await newProject(home), await newProject(abroad), 'unknown'].map((projectId) =>
        explain(owner.userId, { operation, projectId }, { token: owner.token }),
      ),
    )
    expect(answers[0].allowed).toBe(true)
    expect(answers.slice(1)).toEqual([answers[0], answers[0]])
  })

  test('a removed user is unknown', async () => {
    const { userId } = await newHuman(home)
    const owner = await newMember(home, ['ORG_OWNER'])
    ok(await json('DeleteUser', { userId }, admin(home)))
    const answer = await json('ExplainPermission', { userId, permission: 'user.read' }, { token: owner.token })
    expect(factsOf(answer).reason).toBe('USER_NOT_FOUND')
  })

  test('in a deactivated organization only roles on the instance count, and its users may do nothing', async () => {
    const [closed, other] = [await newOrganization(), await newOrganization()]
    const [inside, guest] = [await newHuman(closed), await newHuman(other)]
    for (const { userId } of [inside, guest])
      ok(await json('AddOrganizationMember', { userId, roles: ['ORG_OWNER'] }, admin(closed)))
    ok(await json('DeactivateOrganization', {}, admin(closed)))
    const question = { permission: 'project.write' }
    const ofInside = await explain(inside.userId, question, admin(closed))
    expect(kinds(ofInside.obstacles)).toEqual(['USER_ORGANIZATION_CLOSED'])
    expect(effects(ofInside.obstacles[0])).toEqual([
      'roster.organization.added.v1 GAVE',
      'roster.organization.deactivated.v1 TOOK',
    ])
    const ofGuest = await explain(guest.userId, question, admin(closed))
    expect([kinds(ofGuest.obstacles), ofGuest.grounds.map(faults)]).toEqual([['NO_ROLE'], [['ORGANIZATION_CLOSED']]])
    const owner = await explain('admin', question, admin(closed))
    expect(owner).toMatchObject({ allowed: true, grounds: [{ organizationId: 'roster' }] })
  })
})

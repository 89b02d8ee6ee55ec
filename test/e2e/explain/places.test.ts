import { beforeAll, expect, test } from 'vitest'
import { admin, newHuman, newMember, newOrganization, ok } from '../../examples/people.ts'
import { grantProject, newProject } from '../../examples/projects.ts'
import { factsOf } from '../clients/call.ts'
import { call } from '../clients/encodings.ts'
import { faults, kinds } from './answers.ts'

let home: string
let abroad: string

beforeAll(async () => {
  ;[home, abroad] = await Promise.all([newOrganization(), newOrganization()])
})

const explain = async (userId: string, question: object, options: Parameters<typeof call>[2]) =>
  ok(await call('ExplainPermission', { userId, ...question }, options))
const question = { permission: 'project.write' }

/** The position of an event of an organization. */
async function positionOfEvent(organization: string): Promise<number> {
  const { userId } = await newMember(organization, ['ORG_OWNER'])
  return Number((await explain(userId, question, admin(organization))).grounds[0].events[0].position)
}

// The owner knows when it changed its own user. A place before and one behind that would differ.
test('events of others are no places, so no one learns how far the log is or when others changed something', async () => {
  const owner = await newMember(home, ['ORG_OWNER'])
  const { userId } = await newHuman(home)
  const before = await positionOfEvent(abroad)
  ok(await call('DeactivateUser', { userId }, { token: owner.token }))
  const behind = await positionOfEvent(abroad)
  for (const asOfPosition of [before, behind, behind + 1_000_000, '9007199254740991'].map(String)) {
    const asked = { userId, ...question, asOfPosition }
    const { reason } = factsOf(await call('ExplainPermission', asked, { token: owner.token }))
    expect({ asOfPosition, reason }).toEqual({ asOfPosition, reason: 'EVENT_NOT_FOUND' })
  }
  // Whoever may read the other organization learns nothing new.
  const asOf = await explain(userId, { ...question, asOfPosition: String(before) }, admin(home))
  expect(kinds(asOf.obstacles)).not.toContain('USER_INACTIVE')
})

test('an event of an organization that the caller may read is a place for every question', async () => {
  const owner = await newMember(home, ['ORG_OWNER'])
  const { userId } = await newHuman(home)
  const before = await positionOfEvent(home)
  ok(await call('DeactivateUser', { userId }, { token: owner.token }))
  const asOf = await explain(userId, { ...question, asOfPosition: String(before) }, { token: owner.token })
  expect(kinds(asOf.obstacles)).not.toContain('USER_INACTIVE')
})

test('an event of others that the answer shows is a place for that question', async () => {
  const owner = await newMember(home, ['ORG_OWNER'])
  const { userId } = await newHuman(home)
  const projectId = await newProject(abroad, ['reader'])
  const grantId = await grantProject(abroad, projectId, home, ['reader'])
  ok(await call('AddUserGrant', { userId, projectId, projectGrantId: grantId, roleKeys: ['reader'] }, admin(home)))
  const asked = { role: { projectId, roleKey: 'reader' } }
  for (const operation of ['DeactivateProjectGrant', 'ReactivateProjectGrant'] as const)
    ok(await call(operation, { projectId, grantId }, admin(abroad)))
  const now = await explain(userId, asked, { token: owner.token })
  expect(now.allowed).toBe(true)
  const [, took] = now.grounds.find(({ id }: { id: string }) => id === grantId).events
  const then = await explain(userId, { ...asked, asOfPosition: took.position }, { token: owner.token })
  expect([then.allowed, then.grounds.map(faults)]).toEqual([undefined, [['PROJECT_GRANT'], ['INACTIVE']]])
})

test('an event that gave a user its role is a place for the user, who may read nothing else', async () => {
  const projectId = await newProject(home)
  const { userId, token } = await newMember(home, [])
  ok(await call('AddProjectMember', { userId, projectId, roles: ['PROJECT_OWNER'] }, admin(home)))
  ok(await call('RemoveProjectMember', { userId, projectId }, admin(home)))
  const asked = { ...question, projectId }
  const now = await explain(userId, asked, { token })
  expect(now.allowed).toBeUndefined()
  const [gave] = now.grounds[0].events
  expect((await explain(userId, { ...asked, asOfPosition: gave.position }, { token })).allowed).toBe(true)
})

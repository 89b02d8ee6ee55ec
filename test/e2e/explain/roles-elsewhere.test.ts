import { beforeAll, expect, test } from 'vitest'
import { admin, newMember, newOrganization, ok } from '../../examples/people.ts'
import { grantProject, newProject } from '../../examples/projects.ts'
import { call } from '../clients/encodings.ts'

let home: string
let abroad: string
let owner: string
let projectId: string

// A project that its owner granted to two organizations. One of its roles was given to a user of the one by the other.
beforeAll(async () => {
  ;[home, abroad, owner] = await Promise.all([newOrganization(), newOrganization(), newOrganization()])
  projectId = await newProject(owner, ['reader'])
  for (const organization of [home, abroad]) await grantProject(owner, projectId, organization, ['reader'])
})

async function userOf(organization: string) {
  const user = await newMember(organization, ['ORG_OWNER'])
  ok(await call('AddUserGrant', { userId: user.userId, projectId, roleKeys: ['reader'] }, admin(abroad)))
  return user
}

async function explain(userId: string, options: Parameters<typeof call>[2]) {
  const { allowed, grounds = [] } = ok(
    await call('ExplainPermission', { userId, role: { projectId, roleKey: 'reader' } }, options),
  )
  const shown = grounds.map((ground: any) => [
    ground.kind.replace('GROUND_KIND_', ''),
    ground.organizationId,
    ground.faults ?? [],
  ])
  return { allowed: allowed ?? false, shown }
}

const ofHome = ['PROJECT_GRANT', expect.anything(), []]
const elsewhere = ['USER_GRANT', expect.anything(), ['GROUND_FAULT_ELSEWHERE']]

test('a role that another organization gave is not shown to those who may not read there', async () => {
  const { userId } = await userOf(home)
  const asker = await newMember(home, ['ORG_OWNER'])
  expect(await explain(userId, { token: asker.token })).toEqual({ allowed: false, shown: [ofHome] })
  const { shown } = await explain(userId, admin(home))
  expect(shown).toContainEqual(elsewhere)
})

test('the user itself sees that role, and not the project grant of the other organization', async () => {
  const user = await userOf(home)
  const { allowed, shown } = await explain(user.userId, { token: user.token })
  expect(allowed).toBe(false)
  expect(shown).toHaveLength(2)
  expect(shown).toContainEqual(elsewhere)
  expect(shown).toContainEqual(ofHome)
  // One who may read both sees both project grants.
  expect((await explain(user.userId, admin(home))).shown).toHaveLength(3)
})

import { beforeAll, describe, expect, test } from 'vitest'
import { admin, newHuman, newMachine, newOrganization, ok } from '../../examples/people.ts'
import { grantProject, newProject } from '../../examples/projects.ts'
import { factsOf } from '../clients/call.ts'
import { call as json, over } from '../clients/encodings.ts'

let home: string
let abroad: string
let owned: string
let granted: string
let grant: string

beforeAll(async () => {
  ;[home, abroad] = await Promise.all([newOrganization(), newOrganization()])
  owned = await newProject(home, ['reader', 'writer'])
  granted = await newProject(abroad, ['reader', 'writer'])
  grant = await grantProject(abroad, granted, home, ['reader'])
})

async function getGrant(userId: string, grantId: string, organization: string): Promise<any> {
  return ok(await json('GetUserGrant', { userId, grantId }, admin(organization))).userGrant
}

describe.each(over('grpc'))('AddUserGrant over $encoding', ({ call }) => {
  const add = (request: object, organization = home) => call('AddUserGrant', { ...request }, admin(organization))
  const newUser = async () => (await newHuman(home)).userId

  test('gives roles of an owned project, at sequence 1, in the acting organization', async () => {
    const userId = await newUser()
    const { userGrantId, details } = ok(await add({ userId, projectId: owned, roleKeys: ['writer', 'reader'] }))
    expect(details).toEqual({
      sequence: '1',
      creationDate: expect.any(String),
      changeDate: details.creationDate,
      resourceOwner: home,
    })
    expect(await getGrant(userId, userGrantId, home)).toEqual({
      id: userGrantId,
      userGrantId,
      details,
      userId,
      projectId: owned,
      roleKeys: ['writer', 'reader'],
      state: 'USER_GRANT_STATE_ACTIVE',
      organizationId: home,
    })
  })

  test('finds and fills in the grant of a granted project', async () => {
    const userId = await newUser()
    const { userGrantId } = ok(await add({ userId, projectId: granted, roleKeys: ['reader'] }))
    expect(await getGrant(userId, userGrantId, home)).toMatchObject({ projectGrantId: grant, roleKeys: ['reader'] })
  })

  test('accepts the right grant of a granted project, which gives the same grant as the one filled in', async () => {
    const userId = await newUser()
    ok(await add({ userId, projectId: granted, projectGrantId: grant }))
    expect(factsOf(await add({ userId, projectId: granted })).reason).toBe('USER_GRANT_EXISTS')
  })

  test('stores a role key that is sent twice once', async () => {
    const userId = await newUser()
    const { userGrantId } = ok(await add({ userId, projectId: owned, roleKeys: ['reader', 'reader', 'writer'] }))
    expect((await getGrant(userId, userGrantId, home)).roleKeys).toEqual(['reader', 'writer'])
  })

  test('refuses a second grant to the same user on the same project and organization, whatever the roles', async () => {
    const userId = await newUser()
    ok(await add({ userId, projectId: owned, roleKeys: ['reader'] }))
    for (const roleKeys of [['reader'], ['writer'], []])
      expect(factsOf(await add({ userId, projectId: owned, roleKeys }))).toMatchObject({
        code: 6,
        reason: 'USER_GRANT_EXISTS',
      })
    ok(await add({ userId: await newUser(), projectId: owned }))
    ok(await add({ userId, projectId: granted }))
    ok(await add({ userId, projectId: granted }, abroad))
  })

  test('accepts users of another organization, and machines', async () => {
    ok(await add({ userId: (await newHuman(abroad)).userId, projectId: owned }))
    ok(await add({ userId: await newMachine(home), projectId: owned }))
  })
})

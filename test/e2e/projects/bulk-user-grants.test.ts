import { beforeAll, describe, expect, test } from 'vitest'
import { admin, newHuman, newMember, newOrganization, ok, unique } from '../../examples/people.ts'
import { grantProject, newProject } from '../../examples/projects.ts'
import { factsOf } from '../clients/call.ts'
import { call as json, over } from '../clients/encodings.ts'

let home: string
let abroad: string
let owned: string
let granted: string
let grant: string
let manager: Awaited<ReturnType<typeof newMember>>

beforeAll(async () => {
  ;[home, abroad] = await Promise.all([newOrganization(), newOrganization()])
  owned = await newProject(home, ['reader', 'writer'])
  granted = await newProject(abroad, ['reader', 'writer'])
  grant = await grantProject(abroad, granted, home, ['reader'])
  manager = await newMember(home, ['ORG_OWNER'])
})

const times = (n: number) => Array.from({ length: n }, (_, index) => index)
const reasons = (results: any[]) => results.map(({ error }) => error?.details[0].reason)

/** Adds machines and returns their ids. */
async function newUsers(number: number): Promise<string[]> {
  const users = times(number).map(() => ({ machine: { userName: unique('machine'), name: 'M' } }))
  return ok(await json('BulkAddUsers', { users }, admin(home))).results.map(({ done }: any) => done.id)
}

const read = async (userId: string, grantId: string) => json('GetUserGrant', { userId, grantId }, admin(home))

describe.each(over('connect'))('over $encoding', ({ call }) => {
  const add = (userGrants: object[], options: object = manager) =>
    call('BulkAddUserGrants', { userGrants } as never, options)
  const remove = (grantIds: string[], options: object = manager) => call('BulkRemoveUserGrants', { grantIds }, options)

  test('BulkAddUserGrants gives roles of own and of granted projects, each grant with its result', async () => {
    const [userId] = (await newUsers(1)) as [string]
    const { results } = ok(
      await add([
        { userId, projectId: owned, roleKeys: ['writer', 'reader'] },
        { userId, projectId: granted, roleKeys: ['reader'] },
      ]),
    )
    const { done } = results[0]
    expect(done.details).toMatchObject({ sequence: '1', resourceOwner: home })
    expect(ok(await read(userId, done.id)).userGrant).toMatchObject({
      details: done.details,
      projectId: owned,
      roleKeys: ['writer', 'reader'],
    })
    expect(ok(await read(userId, results[1].done.id)).userGrant).toMatchObject({ projectGrantId: grant })
  })

  test('BulkAddUserGrants refuses only what the single operation refuses, with the same error', async () => {
    const [userId, removed] = (await newUsers(2)) as [string, string]
    ok(await json('DeleteUser', { userId: removed }, admin(home)))
    const foreign = await newProject(abroad)
    const items = [
      { userId, projectId: owned, roleKeys: ['reader'] },
      { userId, projectId: owned, roleKeys: ['writer'] },
      { userId: 'unknown', projectId: owned },
      { userId: removed, projectId: owned },
      { userId, projectId: 'unknown' },
      { userId, projectId: foreign },
      { userId, projectId: granted, projectGrantId: 'unknown' },
      { userId, projectId: granted, roleKeys: ['writer'] },
      { userId, projectId: granted, roleKeys: ['reader'] },
    ]
    const { results } = ok(await add(items))
    expect(reasons(results)).toEqual([
      undefined,
      'USER_GRANT_EXISTS',
      'USER_NOT_FOUND',
      'USER_NOT_FOUND',
      'PROJECT_NOT_FOUND',
      'PROJECT_NOT_FOUND',
      'PROJECT_GRANT_NOT_FOUND',
      'ROLE_NOT_FOUND',
      undefined,
    ])
    for (const [index, { error }] of results.entries())
      if (error) expect((await json('AddUserGrant', items[index], manager)).error).toEqual(error)
  })

  test('BulkRemoveUserGrants takes grants of the acting organization, each once', async () => {
    const [userId, foreigner] = [(await newUsers(1))[0]!, (await newHuman(abroad)).userId]
    const added = ok(await add([owned, granted].map((projectId) => ({ userId, projectId })))).results
    const [first, second] = added.map(({ done }: any) => done.id)
    const request = { userId: foreigner, projectId: granted }
    const { userGrantId: foreign } = ok(await json('AddUserGrant', request, admin(abroad)))
    const { results } = ok(await remove([first, 'unknown', foreign, first, second]))
    const [unknown, none] = ['USER_GRANT_NOT_FOUND', undefined]
    expect(reasons(results)).toEqual([none, unknown, unknown, unknown, none])
    expect(results[0].done).toMatchObject({ id: first, details: { sequence: '2' } })
    expect(results[1].error).toEqual(results[2].error)
    expect(factsOf(await read(userId, first)).reason).toBe(unknown)
    ok(await json('GetUserGrant', { userId: foreigner, grantId: foreign }, admin(abroad)))
    // The same grant may be given again.
    expect(reasons(ok(await add([{ userId, projectId: owned }])).results)).toEqual([none])
  })

  test('the rules of fields and the permissions hold for the whole request', async () => {
    const viewer = await newMember(home, ['ORG_OWNER_VIEWER'])
    const elsewhere = { ...manager, organization: abroad }
    for (const options of [viewer, elsewhere]) {
      expect(factsOf(await add([{}], options)).code).toBe(7)
      expect(factsOf(await remove([''], options)).code).toBe(7)
    }
    const manyIds = times(1001).map((n) => `g${n}`)
    expect(factsOf(await add([{ userId: 'u', projectId: owned }, { userId: 'u' }]))).toMatchObject({
      code: 3,
      fields: ['userGrants[1].projectId'],
    })
    expect(factsOf(await remove(['g', '']))).toMatchObject({ code: 3, fields: ['grantIds[1]'] })
    for (const request of [[], manyIds])
      expect(factsOf(await remove(request, admin(home)))).toMatchObject({ code: 3, fields: ['grantIds'] })
    for (const request of [[], manyIds.map((userId) => ({ userId, projectId: owned }))])
      expect(factsOf(await add(request, admin(home)))).toMatchObject({ code: 3, fields: ['userGrants'] })
    expect(factsOf(await remove(['g'], { ...manager, headers: { 'if-match': '"1"' } })).reason).toBe(
      'SEQUENCE_MISMATCH',
    )
  })

  test('a thousand at once are given and taken, and the longest errors fit into the answer', async () => {
    const users = await newUsers(1000)
    const { results } = ok(
      await add(
        users.map((userId) => ({ userId, projectId: owned, roleKeys: ['reader', 'writer'] })),
        admin(home),
      ),
    )
    const ids = results.map(({ done }: any) => done.id)
    expect(new Set(ids).size).toBe(1000)
    expect(reasons(ok(await remove(ids, admin(home))).results)).toEqual(times(1000).map(() => undefined))
    const roleKeys = times(10).map((n) => `${n}${'漢'.repeat(28)}`)
    const refused = ok(
      await add(
        times(1000).map(() => ({ userId: users[0]!, projectId: owned, roleKeys })),
        admin(home),
      ),
    )
    expect(new Set(reasons(refused.results))).toEqual(new Set(['ROLE_NOT_FOUND']))
  })
})

test('a user who is removed meanwhile keeps no grant', async () => {
  const users = await newUsers(20)
  const [added] = await Promise.all([
    json('BulkAddUserGrants', { userGrants: users.map((userId) => ({ userId, projectId: owned })) }, manager),
    ...users.slice(0, 5).map((userId) => json('DeleteUser', { userId }, admin(home))),
  ])
  const { results } = ok(added)
  await expect
    .poll(
      async () =>
        Promise.all(
          users
            .slice(0, 5)
            .map(async (userId, n) => results[n].error ?? factsOf(await read(userId, results[n].done.id)).code),
        ),
      { timeout: 20_000 },
    )
    .toEqual(results.slice(0, 5).map(({ error }: any) => error ?? 5))
  for (const [n, userId] of users.slice(5).entries()) ok(await read(userId, results[n + 5].done.id))
})

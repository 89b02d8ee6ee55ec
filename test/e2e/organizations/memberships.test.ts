import { decodeJwt } from 'jose'
import { beforeAll, expect, test } from 'vitest'
import { newClient } from '../../examples/oauth.ts'
import { admin, newHuman, newMember, newOrganization, ok } from '../../examples/people.ts'
import { newProject } from '../../examples/projects.ts'
import { factsOf } from '../clients/call.ts'
import { call } from '../clients/encodings.ts'
import { callGrpc } from '../clients/grpc.ts'

// What others give a user: it must not decide what the user may do, nor what others may do with it.

const most = 1000
const several = 20

let home: string
let hostile: string
let projects: string[]

beforeAll(async () => {
  ;[home, hostile] = [await newOrganization(), await newOrganization()]
  projects = await eachOf(Array.from({ length: most + several }), () => newProject(hostile))
}, 120_000)

/** A few at a time. */
async function eachOf<T, R>(all: T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = []
  for (let begin = 0; begin < all.length; begin += 50)
    results.push(...(await Promise.all(all.slice(begin, begin + 50).map(work))))
  return results
}

const give = async (userId: string, projectId: string) =>
  factsOf(await call('AddProjectMember', { userId, projectId, roles: ['PROJECT_OWNER'] }, admin(hostile))).reason

test('an organization gives a user 1,000 memberships and no more, and all that concerns the user goes on', async () => {
  const user = await newMember(home, ['ORG_USER_MANAGER'])
  const { userId, token } = user
  ok(await call('AddOrganizationMember', { userId, roles: ['ORG_OWNER'] }, admin(hostile)))
  await eachOf(projects.slice(0, most - 11), async (id) => expect(await give(userId, id)).toBeUndefined())
  // The last places go to those that are first, of many at once.
  const last = await Promise.all(projects.slice(most - 11).map((id) => give(userId, id)))
  expect(last.filter((reason) => reason === 'MEMBERSHIP_LIMIT_REACHED')).toHaveLength(most + several - (most - 1))
  expect(last.filter((reason) => reason === undefined)).toHaveLength(10)
  // Other organizations are not concerned, nor is another user.
  const guestOf = await newOrganization()
  ok(await call('AddOrganizationMember', { userId, roles: ['ORG_USER_MANAGER'] }, admin(guestOf)))
  expect(await give((await newHuman(home)).userId, projects[0]!)).toBeUndefined()

  // The user acts at home, there, and as a guest that does not say where.
  const [one, there] = [await newHuman(home), await newHuman(guestOf)]
  for (const { userId: id } of [one, there]) ok(await call('GetUser', { userId: id }, { token }))
  const asOwner = { token, organization: hostile }
  ok(await call('GetProject', { projectId: projects[0]! }, asOwner))
  ok(await call('LockUser', { userId }, admin()))
  ok(await call('UnlockUser', { userId }, admin()))
  const explained = ok(await call('ExplainPermission', { userId, permission: 'project.write' }, admin(hostile)))
  expect(explained.allowed).toBe(true)

  const again = ok(await call('CreateSession', { loginName: user.userName, password: user.password })).sessionToken
  expect(ok(await call('LeaveOrganization', { orgId: hostile }, { token: again }))).toEqual({ ended: most })
  expect(await give(userId, projects[0]!)).toBeUndefined()
  ok(await call('DeleteUser', { userId }, admin()))
}, 120_000)

test('a user of a hundred and one organizations gets a hundred of them, and learns that there are more', async () => {
  const { userId, secret } = await newClient({ organization: home, jwt: true, roles: ['ORG_OWNER_VIEWER'] })
  const roles = ['ORG_OWNER', 'ORG_OWNER_VIEWER', 'ORG_USER_MANAGER']
  const join = async (organization: string) =>
    ok(await call('AddOrganizationMember', { userId, roles }, admin(organization)))
  await eachOf(await eachOf(Array.from({ length: 99 }), () => newOrganization()), join)
  const request = { grantType: 'client_credentials', clientId: userId, clientSecret: secret, scope: 'openid roles' }
  const getToken = async () => ok(await callGrpc('IssueToken', request)).accessToken as string
  const getInfo = async (token: string) => ok(await callGrpc('GetUserInfo', {}, { token }))
  const all = await getInfo(await getToken())
  expect([all.organizationRoles.length, all.organizationRolesIncomplete]).toEqual([100, undefined])
  await join(await newOrganization())
  const token = await getToken()
  const some = await getInfo(token)
  expect([some.organizationRoles.length, some.organizationRolesIncomplete]).toEqual([100, true])
  expect(some.organizationRoles).toContainEqual({ organization: home, roles: ['ORG_OWNER_VIEWER'] })
  // A token has fewer of them, so that it still fits into a header.
  const claims = decodeJwt<any>(token)
  expect(claims.organization_roles.length).toBeGreaterThan(20)
  expect(claims.organization_roles_incomplete).toBe(true)
  expect(token.length).toBeLessThan(8000)
}, 60_000)

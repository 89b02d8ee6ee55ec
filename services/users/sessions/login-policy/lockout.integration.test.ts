import { afterAll, beforeAll, expect, test } from 'vitest'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { addPerson, noteApplication, nothingNewer, said, Visitor } from '../../openid/authorization/testing/visitors.ts'
import { updateMyPassword } from '../../directory/operations/password/update-my-password.ts'
import type { User } from '../../directory/events/user.ts'
import { callIn, openUsers, serveDomains, signInBy, type TestUsers } from '../../testing/test-users.ts'
import { getLockoutSettings } from '../operations/settings/get-lockout-settings.ts'
import { unlockUser } from '../operations/unlock-user.ts'
import { reasonOf, setPolicy } from '../factors/testing/second-factors.ts'

let database: TestDatabase
let grants: { stop(): Promise<void> }
let replicas: [TestUsers, TestUsers]
let users: TestUsers
/** An owner of the instance. */
let owner = ''
const roles: Record<string, string[]> = {}
beforeAll(async () => {
  database = await createDatabase()
  grants = await serveDomains({ 'acme.example': 'acme' }, roles, { copied: nothingNewer(['client']) })
  replicas = [await openUsers(database.urls.users), await openUsers(database.urls.users)]
  users = replicas[0]
  await noteApplication(users, 'client', { firstParty: true }, { organizationId: 'acme' })
  owner = await addPerson(users, 'owner')
  roles[owner] = ['IAM_OWNER']
}, 60_000)
afterAll(async () => {
  await Promise.all([...(replicas ?? []).map((one) => one.stop()), grants?.stop()])
  await database?.drop()
})

// Each from another address, or the limits of that would end it.
let address = 1
const from = () => callIn('acme', `198.51.100.${address++}`)
const tryBy = (loginName: string, password: string, at = users) =>
  reasonOf(signInBy(at, { loginName, password }, from()))
const wrong = async (name: string, times: number) => {
  for (let n = 0; n < times; n++) expect(await tryBy(name, 'not it')).toBe('CREDENTIALS_INVALID')
}
const right = (name: string) => tryBy(name, `${name}-password`)
const stateOf = async (userId: string) => (await users.store.load<User>('user', userId))!.state
const counted = async (userId: string) =>
  (await users.sql<{ wrong: number }[]>`select wrong from factor_guesses where user_id = ${userId}`)[0]?.wrong ?? 0
const untilCounted = (userId: string, number: number) =>
  expect.poll(() => counted(userId), { timeout: 5000 }).toBe(number)
const untilLocked = (userId: string) =>
  expect.poll(async () => (await stateOf(userId)).locked, { timeout: 5000 }).toBe(true)

test('so many wrong passwords in a row lock a user, by every door, name and replica; the answer stays the same', async () => {
  await setPolicy(users, { maxPasswordAttempts: 6 }, 'acme')
  const ada = await addPerson(users, 'ada')
  const { sessionId } = await signInBy(users, { loginName: 'ada', password: 'ada-password' }, from())
  await wrong('ada', 1)
  await wrong(' ADA@acme.example', 1)
  expect(await tryBy('ada', 'not it', replicas[1])).toBe('CREDENTIALS_INVALID')
  const visitor = new Visitor(users)
  expect(said(await visitor.signIn(await visitor.begin(), 'ada', 'not it'))).toBe('sign-in 1')
  const own = { ...from(), caller: { ...from().caller, userId: ada, sessionId } }
  const change = { oldPassword: 'not it', newPassword: 'another-password' }
  expect(await reasonOf(updateMyPassword.handle(users, change, own))).toBe('PASSWORD_INVALID')
  await untilCounted(ada, 5)
  expect((await stateOf(ada)).locked).toBeUndefined()
  await wrong('ada', 1)
  await untilLocked(ada)
  expect(await right('ada')).toBe('CREDENTIALS_INVALID')
  const [event] = await users.sql`select payload from events where aggregate_id = ${ada} and type = 'locked'`
  expect(event!['payload']).toEqual({ wrongPasswords: 6 })
  await unlockUser(users, { userId: ada }, callIn('acme'))
  expect(await counted(ada)).toBe(0)
  expect(await right('ada')).toBe('in')
})

test('a right password begins to count anew', async () => {
  await setPolicy(users, { maxPasswordAttempts: 3 }, 'acme')
  const bob = await addPerson(users, 'bob')
  for (let n = 0; n < 2; n++) {
    await wrong('bob', 2)
    await untilCounted(bob, 2)
    expect(await right('bob')).toBe('in')
    expect(await counted(bob)).toBe(0)
  }
})

test('nobody is locked where no policy says so, and no owner of the instance is', async () => {
  await setPolicy(users, {}, 'acme')
  const cleo = await addPerson(users, 'cleo')
  await wrong('cleo', 8)
  // They are looked at after their answers, by the policy of then.
  await Promise.all(replicas.map(({ afterResponse }) => afterResponse.stop()))
  await setPolicy(users, { maxPasswordAttempts: 3 }, 'acme')
  await wrong('owner', 3)
  await untilCounted(owner, 0)
  await wrong('cleo', 2)
  // Whose lock would have come before.
  await untilCounted(cleo, 2)
  expect([await right('owner'), await right('cleo')]).toEqual(['in', 'in'])
})

test('the smaller number of instance and organization holds', async () => {
  const shown = async (instance: number | undefined, own: number | undefined) => {
    await setPolicy(users, { maxPasswordAttempts: instance })
    await setPolicy(users, { maxPasswordAttempts: own }, 'acme')
    return (await getLockoutSettings(users, {}, callIn('acme'))).settings
  }
  const [ofInstance, ofOrganization] = [1, 2]
  expect(await shown(5, 3)).toMatchObject({ maxPasswordAttempts: 3, resourceOwnerType: ofOrganization })
  expect(await shown(5, 10)).toMatchObject({ maxPasswordAttempts: 5 })
  expect(await shown(5, 0)).toMatchObject({ maxPasswordAttempts: 5, resourceOwnerType: ofInstance })
  expect(await shown(undefined, undefined)).toMatchObject({ maxPasswordAttempts: 0 })
})

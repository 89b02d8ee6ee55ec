import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { FactorType, Type } from '#gen/roster/users/v1/user'
import { type SearchQuery, SearchUsersRequest } from '#gen/roster/users/v1/user_search'
import { shiftClock } from '#test/support/shift-clock'
import { generateRecoveryCodes } from '../../sessions/operations/factors/generate-recovery-codes.ts'
import { addOTPEmail } from '../../sessions/operations/factors/otp-email.ts'
import { removePasskey } from '../../sessions/operations/passkeys/remove.ts'
import { removeTOTP } from '../../sessions/operations/factors/remove-totp.ts'
import { call, closeWorld, openWorld, users, withPasskey } from '../../sessions/factors/passkey/testing/world.ts'
import {
  addApp,
  newPerson,
  type Person,
  set,
  setPolicy,
  signIn,
} from '../../sessions/factors/testing/second-factors.ts'
import { addMachineUser } from '../operations/user/add-machine-user.ts'
import { deleteUser } from '../operations/user/delete-user.ts'
import { searchUsers } from '../operations/find/search-users.ts'

beforeAll(() => openWorld(), 60_000)
afterAll(closeWorld)
beforeEach(() => setPolicy(users, { allowPasskeys: true }))
afterEach(() => shiftClock(users.sql, '0 seconds'))

const human: SearchQuery = { query: { $case: 'typeQuery', value: { type: Type.TYPE_HUMAN } } }
const second: SearchQuery = { query: { $case: 'secondFactorQuery', value: {} } }
const not = (query: SearchQuery): SearchQuery => ({ query: { $case: 'notQuery', value: { query } } })
const has = (type: string): SearchQuery => ({
  query: { $case: 'factorQuery', value: { type: FactorType[`FACTOR_TYPE_${type}` as keyof typeof FactorType] } },
})
const ofUsers = (of: { userId: string }[]): SearchQuery => ({
  query: { $case: 'inUserIdsQuery', value: { userIds: of.map(({ userId }) => userId) } },
})

const nothing = SearchUsersRequest.decode(new Uint8Array())
const find = (queries: SearchQuery[], more = {}) =>
  searchUsers.handle(users, { ...nothing, queries, withFactors: true, ...more }, call())

async function found(of: Person[], ...queries: SearchQuery[]) {
  const ids = (await find([ofUsers(of), ...queries])).users.map(({ userId }) => userId)
  return of.flatMap(({ userId, userName }) => (ids.includes(userId) ? [userName.replace(/-\d+$/, '')] : []))
}

async function factorsOf({ userId }: { userId: string }) {
  const { users: of } = await find([ofUsers([{ userId }])])
  const nameOf = (type: FactorType) =>
    Object.keys(FactorType).find((name) => FactorType[name as 'FACTOR_TYPE_TOTP'] === type)!
  return of[0]!.factors.map(({ type, ...times }) => ({ type: nameOf(type).replace('FACTOR_TYPE_', ''), ...times }))
}

test('users are found by what they have and have not, also who has no second factor', async () => {
  const [none, app, mail, codes] = [
    await newPerson(users, 'none'),
    await newPerson(users, 'app'),
    await newPerson(users, 'mail'),
    await newPerson(users, 'codes'),
  ]
  const { person: key, passkeyId } = await withPasskey()
  const all = [none, app, mail, codes, { ...key, email: '' }]
  await addApp(users, app)
  await addOTPEmail.handle(users, mail, call())
  await addApp(users, codes)
  await generateRecoveryCodes.handle(users, codes, call())
  expect(await found(all, has('TOTP'))).toEqual(['app', 'codes'])
  expect(await found(all, has('OTP_EMAIL'))).toEqual(['mail'])
  expect(await found(all, has('RECOVERY_CODE'))).toEqual(['codes'])
  expect(await found(all, has('PASSKEY'))).toEqual(['person'])
  expect(await found(all, has('U2F'))).toEqual([])
  expect(await found(all, has('PASSWORD'))).toHaveLength(5)
  expect(await found(all, second)).toEqual(['app', 'mail', 'codes', 'person'])
  expect(await found(all, not(second))).toEqual(['none'])
  expect(
    await found(all, {
      query: { $case: 'orQuery', value: { queries: [not(second), has('OTP_EMAIL')] } },
    }),
  ).toEqual(['none', 'mail'])
  await removeTOTP.handle(users, app, call())
  await removePasskey.handle(users, { userId: key.userId, passkeyId }, call())
  // With the app went the codes, which would stand for it.
  await removeTOTP.handle(users, codes, call())
  expect(await found(all, not(second))).toEqual(['none', 'app', 'codes', 'person'])
  expect(await found(all, has('RECOVERY_CODE'))).toEqual([])
})

test('of each user it is told what they have, since when, and when it was used last', async () => {
  const person = await newPerson(users)
  const app = await addApp(users, person)
  await addOTPEmail.handle(users, person, call())
  const since = Date.now()
  const [password, totp, mail, ...others] = await factorsOf(person)
  expect(password).toEqual({ type: 'PASSWORD', passkeyId: '', creationDate: undefined, lastUseDate: undefined })
  expect([totp!.type, mail!.type, others]).toEqual(['TOTP', 'OTP_EMAIL', []])
  for (const { creationDate, lastUseDate } of [totp!, mail!]) {
    expect(Math.abs(creationDate!.getTime() - since)).toBeLessThan(30_000)
    expect(lastUseDate).toBeUndefined()
  }
  await shiftClock(users.sql, '2 hours')
  await set(users, await signIn(users, person), { totpCode: await app.code() })
  const used = (await factorsOf(person))[1]!
  expect(Math.abs(used.lastUseDate!.getTime() - since - 7_200_000)).toBeLessThan(30_000)
  expect(used.creationDate).toEqual(totp!.creationDate)
  await removeTOTP.handle(users, person, call())
  await addApp(users, person)
  const again = (await factorsOf(person))[1]!
  expect(again.creationDate!.getTime() - since).toBeGreaterThan(7_000_000)
  expect(again.lastUseDate).toBeUndefined()
})

test('each passkey is told by its id, and a machine has nothing', async () => {
  const { person, passkeyId } = await withPasskey()
  expect(await factorsOf(person)).toMatchObject([{ type: 'PASSWORD' }, { type: 'PASSKEY', passkeyId }])
  const machine = { userId: 'machine', userName: 'machine', name: 'M', description: '', accessTokenType: 0 as const }
  await addMachineUser(users, machine, call())
  expect(await factorsOf(machine)).toEqual([])
  const { users: people } = await find([human, not(second)], { limit: 1000 })
  expect(people.map(({ userId }) => userId)).not.toContain('machine')
  // Without being asked for, nothing is told.
  expect((await find([], { withFactors: false })).users.flatMap(({ factors }) => factors)).toEqual([])
})

test('what a user had goes with the user', async () => {
  const person = await newPerson(users)
  const { userId } = person
  await addApp(users, person)
  await deleteUser(users, { userId, forgetNow: true }, call())
  expect(await users.sql`select from user_factors where user_id = ${userId}`).toHaveLength(0)
})

import { afterAll, beforeAll, expect, test } from 'vitest'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { addPerson } from '../openid/authorization/testing/visitors.ts'
import type { Call } from '#lib/rpc/headers'
import { authenticate } from '../internal/authenticate.ts'
import { createSession } from './operations/session/create-session.ts'
import { deleteSession } from './operations/session/delete-session.ts'
import { getSession } from './operations/session/get-session.ts'
import { setSession } from './operations/session/set-session.ts'
import { lockUser } from '../directory/operations/user/lock-user.ts'
import { callIn, openUsers, serveDomains, signInBy, type TestUsers } from '../testing/test-users.ts'
import { hashToken } from '../directory/tokens/token.ts'

let database: TestDatabase
let users: TestUsers
let grants: { stop(): Promise<void> }
let people = 0

beforeAll(async () => {
  database = await createDatabase()
  ;[users, grants] = await Promise.all([openUsers(database.urls.users, { SESSIONS_PER_USER: '2' }), serveDomains({})])
}, 60_000)
afterAll(async () => {
  await Promise.all([users?.stop(), grants?.stop()])
  await database?.drop()
})

// Each at an address of its own, so that no rate limit is met.
const call = (): Call => ({ ...callIn(''), clientAddress: `2001:db8:${(people++).toString(16)}::` })
const newPerson = async () => {
  const userName = `person-${people++}`
  return { userName, password: `${userName}-password`, userId: await addPerson(users, userName) }
}
type Person = Awaited<ReturnType<typeof newPerson>>
const begin = ({ userId }: Pick<Person, 'userId'>, seconds?: number, by = call()) => {
  const lifetime = seconds === undefined ? undefined : { seconds, nanos: 0 }
  return createSession.handle(users, { userId, loginName: '', password: '', lifetime }, by)
}
type Begun = { sessionId: string; sessionToken: string }
const advance = (session: Begun, password: string, seconds?: number) => {
  const lifetime = seconds === undefined ? undefined : { seconds, nanos: 0 }
  const { sessionId, sessionToken } = session
  return setSession.handle(users, { sessionId, sessionToken, password, otpEmailCode: '', lifetime }, call())
}
const reasonOf = (work: Promise<unknown>) =>
  work.then(
    () => 'in',
    (error: { reason: string }) => error.reason,
  )
const holder = (token: string) => reasonOf(authenticate(users, { tokenHash: hashToken(token) }, call()))
const living = async ({ userId }: Person) => {
  const rows = await users.sql`select session_id from tokens where user_id = ${userId} and session_id <> ''`
  return rows.map(({ session_id }) => session_id as string)
}
const typesOf = async ({ sessionId }: Begun) => {
  const rows = await users.sql`
    select type from events where aggregate_type = 'session' and aggregate_id = ${sessionId} order by position
  `
  return rows.map(({ type }) => type as string)
}

test('a half-done session is nobody: its token is none, it is no event, and it ends no other session', async () => {
  const person = await newPerson()
  const sessions = [await signInBy(users, { loginName: person.userName, ...person }, call())]
  sessions.push(await signInBy(users, { loginName: person.userName, ...person }, call()))
  const begun = await Promise.all([begin(person), begin(person), begin(person)])
  for (const session of begun) {
    expect(await holder(session.sessionToken)).toBe('TOKEN_INVALID')
    expect(await typesOf(session)).toEqual([])
  }
  expect((await living(person)).toSorted()).toEqual(sessions.map(({ sessionId }) => sessionId).toSorted())
  expect(await Promise.all(sessions.map(({ sessionToken }) => holder(sessionToken)))).toEqual(['in', 'in'])
})

test('the right password makes it whole, under its id, with another token, once', async () => {
  const person = await newPerson()
  const begun = await begin(person)
  expect(await reasonOf(advance(begun, 'wrong'))).toBe('CREDENTIALS_INVALID')
  expect(await reasonOf(advance({ ...begun, sessionToken: 'other' }, person.password))).toBe('SESSION_NOT_FOUND')
  const tries = await Promise.allSettled([1, 2, 3].map(() => advance(begun, person.password)))
  const [whole, ...others] = tries.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
  expect(others).toEqual([])
  expect(await holder(whole!.sessionToken)).toBe('in')
  expect(await holder(begun.sessionToken)).toBe('TOKEN_INVALID')
  expect(await reasonOf(advance(begun, person.password))).toBe('SESSION_NOT_FOUND')
  expect(await typesOf(begun)).toEqual(['created'])
})

test('each further check gives another token, also where several come at once', async () => {
  const person = await newPerson()
  const { sessionId, sessionToken } = await signInBy(users, { loginName: person.userName, ...person }, call())
  const before = (await getSession(users, { sessionId })).session!
  const tries = await Promise.allSettled([1, 2, 3].map(() => advance({ sessionId, sessionToken }, person.password)))
  const [again, ...others] = tries.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
  expect(others).toEqual([])
  expect([await holder(sessionToken), await holder(again!.sessionToken)]).toEqual(['TOKEN_INVALID', 'in'])
  const after = (await getSession(users, { sessionId })).session!
  const checkedAt = ({ factors }: typeof after) => factors!.password!.verifiedAt!.getTime()
  expect(checkedAt(after)).toBeGreaterThan(checkedAt(before))
  expect(after.factors!.user).toEqual(before.factors!.user)
})

test('a user has twenty of them: one more ends the oldest of the network that began most', async () => {
  const person = await newPerson()
  const [own, stranger] = [call(), call()]
  const begun: Begun[] = []
  for (let n = 0; n < 23; n++) begun.push(await begin(person, undefined, n < 2 ? own : stranger))
  const found = await Promise.all(begun.map(({ sessionId }) => reasonOf(getSession(users, { sessionId }))))
  const over = Array<string>(3).fill('SESSION_NOT_FOUND')
  expect(found).toEqual(['in', 'in', ...over, ...Array<string>(18).fill('in')])
})

test('it lives for 15 minutes, whatever the lifetime that the whole session will have', async () => {
  const person = await newPerson()
  const asked = Date.now()
  const [begun, over] = await Promise.all([begin(person, 7), begin(person)])
  const minutes = (begun.expirationDate!.getTime() - asked) / 60_000
  expect(minutes).toBeGreaterThan(14)
  expect(minutes).toBeLessThan(16)
  const whole = await advance(begun, person.password)
  expect(whole.expirationDate!.getTime() - whole.details!.changeDate!.getTime()).toBe(7000)
  const longest = await advance({ ...begun, ...whole }, person.password, 1e9)
  const { SESSION_LIFETIME } = users.config
  expect(longest.expirationDate!.getTime() - longest.details!.changeDate!.getTime()).toBe(SESSION_LIFETIME * 1000)
  await users.sql`
    update half_done_sessions set expires_at = roster_now() where session_id = ${over.sessionId}
  `
  expect(await reasonOf(advance(over, person.password))).toBe('SESSION_NOT_FOUND')
  expect(await reasonOf(getSession(users, over))).toBe('SESSION_NOT_FOUND')
})

test('one that was ended, and one of a locked user, become no whole one', async () => {
  const person = await newPerson()
  const [ended, locked] = [await begin(person), await begin(person)]
  const { session } = await getSession(users, ended)
  expect([session!.sequence, session!.factors!.password]).toEqual([0, undefined])
  await deleteSession.handle(users, { ...ended, sessionToken: '' }, call())
  expect(await reasonOf(advance(ended, person.password))).toBe('SESSION_NOT_FOUND')
  await lockUser(users, { userId: person.userId }, call())
  expect(await reasonOf(advance(locked, person.password))).toBe('SESSION_NOT_FOUND')
  expect(await reasonOf(begin(person))).toBe('USER_NOT_FOUND')
  expect(await reasonOf(begin({ userId: 'unknown' }))).toBe('USER_NOT_FOUND')
  expect(await living(person)).toEqual([])
})

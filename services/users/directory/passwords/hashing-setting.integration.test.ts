import { afterAll, beforeAll, expect, test } from 'vitest'
import type { RosterError } from '#lib/errors'
import type { Store } from '#lib/eventstore/store'
import { createDatabase, type TestDatabase } from '#test/support/database'
import type { Context } from '../../context.ts'
import { addPerson, noteApplication, nothingNewer, said, Visitor } from '../../openid/authorization/testing/visitors.ts'
import { createSession } from '../../sessions/operations/session/create-session.ts'
import { setSession } from '../../sessions/operations/session/set-session.ts'
import { callIn, openUsers, serveDomains, signInBy, type TestUsers } from '../../testing/test-users.ts'
import { lockUser } from '../operations/user/lock-user.ts'
import { hashPassword, verifyPassword } from './password-hashing.ts'
import { updateMyPassword } from '../operations/password/update-my-password.ts'
import { parametersOf, offered, standard } from '#lib/credentials/argon2-parameters'

const cheap = offered[4]

let database: TestDatabase
let users: TestUsers
let domains: { stop(): Promise<void> }

beforeAll(async () => {
  database = await createDatabase()
  users = await openUsers(database.urls.users, { PASSWORD_HASHING: cheap })
  domains = await serveDomains({}, {}, { copied: nothingNewer(['client']) })
  await noteApplication(users, 'client', { firstParty: true }, { organizationId: 'acme' })
}, 60_000)
afterAll(async () => {
  await Promise.all([users?.stop(), domains?.stop()])
  await database?.drop()
})

let made = 0
/** A person, whose stored hash has these parameters. */
async function personBy(parameters: string): Promise<{ userId: string; userName: string; password: string }> {
  const userName = `person-${made++}`
  const userId = await addPerson(users, userName)
  const person = { userId, userName, password: `${userName}-password` }
  await storeHash(userId, await hashPassword(person.password, undefined, parameters))
  return person
}

const storeHash = (userId: string, hash: string) =>
  users.sql`update passwords set hash = ${hash} where user_id = ${userId}`

async function hashOf(userId: string): Promise<string> {
  const [row] = await users.sql<[{ hash: string }]>`select hash from passwords where user_id = ${userId}`
  return row.hash
}

// A wrong password is counted by one, some time after its answer.
const eventsOf = async (userId: string) =>
  (
    await users.sql<{ type: string }[]>`
      select type from events where aggregate_id = ${userId} and type <> 'failed' order by position
    `
  ).map(({ type }) => type)
const sessionsOf = async (userId: string) =>
  (await users.sql`select session_id from tokens where user_id = ${userId} order by 1`).map((row) => row['session_id'])
const mailsOf = async (userId: string) => await users.sql`select from unsent_mails where user_id = ${userId}`

let address = 0
const anywhere = (userId = '') => {
  const call = callIn('', `2001:db8:${(++address).toString(16)}::1`)
  return { ...call, caller: { ...call.caller, userId } }
}

const reasonOf = (work: Promise<unknown>) =>
  work.then(
    () => 'in',
    ({ reason }: RosterError) => reason,
  )

/** The same replica, where something else happens before a session is stored. */
function after(happens: () => Promise<unknown>): Context {
  const { store } = users
  const execute: Store['execute'] = async (command) => (await happens(), store.execute(command))
  return { ...users, store: { ...store, execute } }
}

const doors: Record<string, (person: { userId: string; userName: string }, password: string) => Promise<string>> = {
  CreateSession: ({ userName: loginName }, password) => reasonOf(signInBy(users, { loginName, password }, anywhere())),
  async SetSession({ userId }, password) {
    const asked = { userId, loginName: '', password: '', lifetime: undefined }
    const begun = await createSession.handle(users, asked, callIn(''))
    const { sessionId, sessionToken } = begun
    const given = { sessionId, sessionToken, password, otpEmailCode: '', lifetime: undefined }
    return reasonOf(setSession.handle(users, given, anywhere()))
  },
  async 'the page'({ userName }, password) {
    const browser = new Visitor(users)
    return said(await browser.signIn(await browser.begin(), userName, password)) === 'sign-in 1'
      ? 'CREDENTIALS_INVALID'
      : 'in'
  },
}

test.each(Object.keys(doors))(
  'a right password at %s is hashed anew where its hash has other parameters, and a wrong one is not',
  async (door) => {
    const person = await personBy(standard)
    const { userId, password } = person
    const before = await hashOf(userId)
    expect(await doors[door]!(person, 'another password')).toBe('CREDENTIALS_INVALID')
    expect(await hashOf(userId)).toBe(before)
    const events = await eventsOf(userId)
    expect(await doors[door]!(person, password)).toBe('in')
    const renewed = await hashOf(userId)
    expect(parametersOf(renewed)).toBe(cheap)
    expect(await verifyPassword(password, renewed)).toBe(true)
    // It is a row: no event of the user, no mail, and each session lives.
    expect(await eventsOf(userId)).toEqual(events)
    expect(await mailsOf(userId)).toHaveLength(0)
    const sessions = await sessionsOf(userId)
    expect(sessions).toHaveLength(1)
    expect(await doors[door]!(person, password)).toBe('in')
    expect(await hashOf(userId)).toBe(renewed)
    expect(await sessionsOf(userId)).toEqual(expect.arrayContaining(sessions))
  },
)

test('the hash changes in the transaction of the session, or not at all', async () => {
  const { userId, userName, password } = await personBy(standard)
  const before = await hashOf(userId)
  const locked = after(() => lockUser(users, { userId }, callIn('acme')))
  expect(await reasonOf(signInBy(locked, { loginName: userName, password }, anywhere()))).toBe('CREDENTIALS_INVALID')
  expect(await hashOf(userId)).toBe(before)
})

test('a present password that is proved for another purpose keeps its hash', async () => {
  const { userId, password } = await personBy(standard)
  const before = await hashOf(userId)
  const change = { oldPassword: password, newPassword: 'password' }
  expect(await reasonOf(updateMyPassword.handle(users, change, anywhere(userId)))).toBe('PASSWORD_TOO_COMMON')
  expect(await hashOf(userId)).toBe(before)
})

test('a hash that was stored meanwhile stays, and one that is being stored is not waited for', async () => {
  const stored = await personBy(standard)
  const another = await hashPassword('another one', undefined, standard)
  const beside = after(() => storeHash(stored.userId, another))
  const { userName: loginName, password } = stored
  expect(await reasonOf(signInBy(beside, { loginName, password }, anywhere()))).toBe('in')
  expect(await hashOf(stored.userId)).toBe(another)

  const person = await personBy(standard)
  await users.sql.begin(async (transaction) => {
    await transaction`update passwords set hash = ${another} where user_id = ${person.userId}`
    expect(await doors['CreateSession']!(person, person.password)).toBe('in')
  })
  expect(await hashOf(person.userId)).toBe(another)
})

test('without a place for the new hash, the person is signed in by the one that is there', async () => {
  const { userId, userName, password } = await personBy(standard)
  const { renew, ...hashes } = users.passwordHashes
  // Nobody waits as long as this call.
  const late = { ...hashes, renew: (text: string, hash: string) => renew(text, hash, { lane: '', deadline: 1 }) }
  const call = anywhere()
  expect(await reasonOf(signInBy({ ...users, passwordHashes: late }, { loginName: userName, password }, call))).toBe(
    'in',
  )
  expect(parametersOf(await hashOf(userId))).toBe(standard)
})

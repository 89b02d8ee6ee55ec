import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createDatabase, type TestDatabase } from '#test/support/database'
import type { RosterError } from '#lib/errors'
import type { Store } from '#lib/eventstore/store'
import { addHumanUser } from '../operations/user/add-human-user.ts'
import { callIn, openUsers, serveDomains, type TestUsers, signInBy } from '../../testing/test-users.ts'
import { changePassword } from './change-password.ts'

let database: TestDatabase
let users: TestUsers
let grants: { stop(): Promise<void> }

beforeAll(async () => {
  database = await createDatabase()
  users = await openUsers(database.urls.users)
  grants = await serveDomains({})
})
afterAll(async () => {
  await grants?.stop()
  await users?.stop()
  await database?.drop()
})

async function newHuman() {
  const profile = { firstName: 'A', lastName: 'B', preferredLanguage: '', gender: 0 as const }
  const email = { email: 'ada@example.com', verification: { $case: 'isVerified' as const, value: true } }
  const [userName, password] = [randomUUID(), randomUUID()]
  const { userId } = await addHumanUser.handle(users, { userName, password, profile, email }, callIn('acme'))
  return { userId, userName, password }
}

/** The same store, after something else happened. */
function after(happens: () => Promise<unknown>): Store {
  const { store } = users
  return { ...store, execute: async (command) => (await happens(), store.execute(command)) }
}

const reasonOf = (work: Promise<unknown>) =>
  work.then(
    () => 'done',
    (error: RosterError) => error.reason,
  )

test('a sign-in whose password is changed after it was found right opens no session', async () => {
  const { userId, userName, password } = await newHuman()
  const change = () =>
    changePassword(users, { userId, newPassword: randomUUID(), field: 'newPassword' }, callIn('acme'))
  const signIn = signInBy({ ...users, store: after(change) }, { loginName: userName, password }, callIn('acme'))
  expect(await reasonOf(signIn)).toBe('CREDENTIALS_INVALID')
  expect(await users.sql`select from tokens where user_id = ${userId}`).toHaveLength(0)
})

test('a change whose proof is no longer the present password changes nothing', async () => {
  const { userId, userName, password } = await newHuman()
  const [former, latter] = [randomUUID(), randomUUID()]
  const change = () => changePassword(users, { userId, newPassword: latter, field: 'newPassword' }, callIn('acme'))
  const proof = { kind: 'password' as const, password, field: 'oldPassword' }
  const late = changePassword(
    { ...users, store: after(change) },
    { userId, newPassword: former, field: 'newPassword', proof },
    callIn('acme'),
  )
  expect(await reasonOf(late)).toBe('PASSWORD_INVALID')
  const signIn = (tried: string) => reasonOf(signInBy(users, { loginName: userName, password: tried }, callIn('acme')))
  expect([await signIn(former), await signIn(latter)]).toEqual(['CREDENTIALS_INVALID', 'done'])
})

import postgres from 'postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Sql } from '#lib/database/database'
import { createStore } from '#lib/eventstore/store'
import { refold } from '#lib/schema/start-refolding'
import { createLog } from '#lib/log'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { checkAggregates } from '../../operator/verify/check-aggregates.ts'
import { addHumanUser } from './directory/operations/user/add-human-user.ts'
import { deleteUser } from './directory/operations/user/delete-user.ts'
import { lockUser } from './directory/operations/user/lock-user.ts'
import { setEmail } from './directory/operations/user/set-email.ts'
import { unlockUser } from './sessions/operations/unlock-user.ts'
import { model } from './model.ts'
import { callIn, openUsers, serveDomains, type TestUsers } from './testing/test-users.ts'
import { outlives, signOutsOf } from './directory/events/sign-outs.ts'
import { evolveUser, type User, type UserEvent } from './directory/events/user.ts'

let database: TestDatabase
let users: TestUsers
let former: TestUsers
let domains: Awaited<ReturnType<typeof serveDomains>>
const call = callIn('acme')
const email = (userId: string, at: string) => ({
  email: `${userId}@${at}.example`,
  verification: { $case: 'isVerified' as const, value: true },
})

beforeAll(async () => {
  database = await createDatabase()
  domains = await serveDomains({})
  users = await openUsers(database.urls.users)
  // The former release keeps what it does not know, and counts no sign-outs.
  const evolve = {
    ...model.evolve,
    user(user: User | undefined, event: UserEvent, at: Date): User {
      const { signOuts: _, keptSession: __, ...next } = evolveUser(user, event, at)
      return user?.signOuts === undefined ? next : { ...next, signOuts: user.signOuts }
    },
  }
  const { folds: _, ...known } = { ...model, evolve }
  const { personal } = users
  former = {
    ...users,
    store: createStore(users.sql, known, createLog('test', 'silent'), () => {}, undefined, { personal }),
  }
})
afterAll(async () => {
  await users?.stop()
  await domains?.stop()
  await database?.drop()
})

/** A user whom this release added, and each of `by` locked and unlocked. */
async function lockedBy(userId: string, ...by: TestUsers[]): Promise<void> {
  await addHumanUser.handle(
    users,
    {
      userId,
      userName: userId,
      password: 'a former password',
      profile: { firstName: 'F', lastName: 'L', preferredLanguage: '', gender: 0 },
      email: email(userId, 'mail'),
    },
    call,
  )
  for (const release of by) {
    await lockUser(release, { userId }, call)
    await unlockUser(release, { userId }, call)
  }
}

const stateOf = async (userId: string) => (await users.store.load<User>('user', userId))?.state

async function differing(): Promise<string[]> {
  const connection = { search_path: 'roster_users' }
  const sql = postgres(database.adminUrl, { max: 1, connection, onnotice: () => {} }) as unknown as Sql
  const found: string[] = []
  for await (const page of checkAggregates(sql, 'users', model, users.personal))
    found.push(...page.found.map(({ row, problem }) => `${row}: ${problem}`))
  await sql.end()
  return found
}

test('a lock that the former release set and took back has ended the sessions of before, and none begun since', async () => {
  await lockedBy('lena', users, former)
  const state = await stateOf('lena')
  expect(signOutsOf(state)).toBe(2)
  expect([1, 2].map((began) => outlives(state, 'session', began))).toEqual([false, true])
})

test('the next write stores what the former release did not count', async () => {
  await lockedBy('nora', users, former)
  await setEmail.handle(users, { userId: 'nora', ...email('nora', 'new') }, call)
  expect((await differing()).filter((row) => row.includes('nora'))).toEqual([])
  // And what that release writes after it is folded again.
  await lockUser(former, { userId: 'nora' }, call)
  expect(signOutsOf(await stateOf('nora'))).toBe(3)
})

test('what a former release left is stored as its events say, and verify names none of it any more', async () => {
  await lockedBy('otto', former)
  await lockedBy('gina', users, former)
  await deleteUser(former, { userId: 'gina', forgetNow: false }, call)
  expect(await differing()).toContainEqual(expect.stringMatching(/otto.*state\.signOuts: not what its events say/))
  await refold(users.sql, model, users.personal)
  expect(await differing()).toEqual([])
  const left = await users.sql`select id from aggregates where type = 'user' and fold is null`
  expect(left).toEqual([])
})

import { afterAll, beforeAll, expect, test } from 'vitest'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { addHumanUser } from '../operations/user/add-human-user.ts'
import { addMachineUser } from '../operations/user/add-machine-user.ts'
import { deleteUserSessions } from '../../sessions/operations/session/delete-user-sessions.ts'
import { setEmail } from '../operations/user/set-email.ts'
import { updateUserName } from '../operations/user/update-user-name.ts'
import { callIn, openUsers, type TestUsers } from '../../testing/test-users.ts'
import type { User } from '../events/user.ts'
import { newToken } from '../tokens/token.ts'
import { storeSession } from '../../sessions/sessions.ts'
import { fillFoundUsers } from './found-users.ts'

let database: TestDatabase
let users: TestUsers
const call = () => callIn('acme')

beforeAll(async () => {
  database = await createDatabase()
  users = await openUsers(database.urls.users)
  const profile = { firstName: 'Zoë', lastName: 'ÄDLER', preferredLanguage: '', gender: 0 as const }
  const verification = { $case: 'isVerified' as const, value: true }
  const email = { email: 'Zoe@Example.com', verification }
  await addHumanUser.handle(users, { userId: 'zoe', userName: 'Zoë', profile, email }, call())
  await addMachineUser(
    users,
    { userId: 'robot', userName: 'Robot', name: 'R', description: '', accessTokenType: 0 },
    call(),
  )
})
afterAll(async () => {
  await users.stop()
  await database.drop()
})

async function rows() {
  return [
    await users.sql`select * from found_users order by user_id`,
    await users.sql`select * from found_addresses order by user_id`,
  ].map((all) => [...all])
}

test('users are found as before after the restore of a backup without these tables, once two replicas have started', async () => {
  const today = await rows()
  expect(today[0]).toMatchObject([
    { user_id: 'robot', display_name: 'r', first_name: '', type: 2 },
    { user_id: 'zoe', user_name: 'zoë', last_name: 'ädler', display_name: 'zoë ädler', type: 1, state: 1 },
  ])
  expect(today[1]).toMatchObject([{ email: '' }, { user_id: 'zoe', email: 'zoe@example.com', organization_id: 'acme' }])
  await users.sql`truncate found_users, found_addresses, found_users_filled`
  await Promise.all([fillFoundUsers(users.sql, users.personal), fillFoundUsers(users.sql, users.personal)])
  expect(await rows()).toEqual(today)
  // A later start has nothing to do.
  await users.sql`delete from found_addresses where user_id = 'robot'`
  await fillFoundUsers(users.sql, users.personal)
  expect((await rows())[1]).toHaveLength(1)
})

test('many changes of one user at a time leave the last name and address in the search', async () => {
  const numbers = Array.from({ length: 30 }, (_, n) => n)
  const verification = { $case: 'isVerified' as const, value: true }
  await Promise.all(
    numbers.flatMap((n) => [
      updateUserName.handle(users, { userId: 'zoe', userName: `Name${n}` }, call()),
      setEmail.handle(users, { userId: 'zoe', email: `m${n}@example.com`, verification }, call()),
    ]),
  )
  const { userName, human } = (await users.store.load<User>('user', 'zoe'))!.state
  expect(await users.sql`select user_name from found_users where user_id = 'zoe'`).toMatchObject([
    { user_name: userName.toLowerCase() },
  ])
  expect(await users.sql`select email from found_addresses where user_id = 'zoe'`).toMatchObject([
    { email: human!.email },
  ])
})

test('500 sessions of a user end by one call, each with its event', async () => {
  const ids = Array.from({ length: 500 }, (_, n) => `session-${n}`)
  const expiresAt = new Date(Date.now() + 60_000)
  const token = { userId: 'zoe', organizationId: 'acme', human: true, expiresAt }
  await Promise.all(
    ids.map((sessionId) =>
      users.store.execute({
        aggregate: { type: 'session', id: sessionId },
        call: call(),
        decide: () => ({
          organizationId: 'acme',
          events: [{ type: 'created', payload: { userId: 'zoe', expiresAt: expiresAt.toISOString() } }],
          writes: [storeSession(newToken(), { ...token, sessionId }, 1000)],
          answer: undefined,
        }),
      }),
    ),
  )
  expect((await deleteUserSessions.handle(users, { userId: 'zoe' }, call())).ended).toBe(500)
  expect(await users.sql`select from events where aggregate_type = 'session' and type = 'ended'`).toHaveLength(500)
  expect(await users.sql`select from tokens where user_id = 'zoe'`).toHaveLength(0)
})

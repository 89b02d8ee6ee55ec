import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { v7 as uuid } from 'uuid'
import type { RosterError } from '#lib/errors'
import { callFunction, type Transaction } from '#lib/database/database'
import { anonymous } from '#lib/rpc/caller'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { shiftClock } from '#test/support/shift-clock'
import { addHumanUser } from '../directory/operations/user/add-human-user.ts'
import { deleteSession } from './operations/session/delete-session.ts'
import { deleteUser } from '../directory/operations/user/delete-user.ts'
import { ownerOfSession } from '../owners.ts'
import { pruneSessions, storeSession } from './sessions.ts'
import { surplusSessions } from './surplus.ts'
import { callIn, openUsers, serveDomains, type TestUsers, signInBy } from '../testing/test-users.ts'
import { newToken } from '../directory/tokens/token.ts'

const day = 86_400_000
let database: TestDatabase
let users: TestUsers
let grants: { stop(): Promise<void> }

beforeAll(async () => {
  database = await createDatabase()
  users = await openUsers(database.urls.users, { SESSIONS_PER_USER: '3' })
  grants = await serveDomains({})
})

afterAll(async () => {
  await users?.stop()
  await grants?.stop()
  await database?.drop()
})

let made = 0

async function newHuman() {
  const userName = `human-${made++}`
  const { userId } = await addHumanUser.handle(
    users,
    {
      userId: undefined,
      userName,
      password: 'ada-password',
      profile: { firstName: 'A', lastName: 'B', preferredLanguage: '', gender: 0 },
      email: { email: 'a@example.com', verification: { $case: 'isVerified', value: true } },
    },
    callIn('home'),
  )
  const signIn = (address = '198.51.100.7') =>
    signInBy(
      users,
      { loginName: userName, password: 'ada-password' },
      { ...callIn(''), caller: anonymous, clientAddress: address },
    )
  return { userId, signIn }
}

const end = (sessionId: string) =>
  deleteSession.handle(users, { sessionId, sessionToken: '' }, callIn('home')).then(
    () => 'ended',
    ({ reason }: RosterError) => reason,
  )
const stateOf = async (id: string) => (await users.store.load<{ ended: boolean }>('session', id))?.state.ended
const eventsOf = async (id: string) =>
  (await users.sql<{ type: string }[]>`select type from events where aggregate_id = ${id} order by sequence`).map(
    ({ type }) => type,
  )

async function pruneAfter(time: string) {
  await shiftClock(users.sql, time)
  await pruneSessions(users.sql)
  await shiftClock(users.sql, '0')
}

describe('a session that ended thirty days ago', () => {
  test('keeps its events and its owner, and gets the same answers as before', async () => {
    const { userId, signIn } = await newHuman()
    const { sessionId } = await signIn()
    expect(await end(sessionId)).toBe('ended')
    await pruneAfter('29 days')
    expect(await stateOf(sessionId)).toBe(true)
    await pruneAfter('31 days')
    expect(await stateOf(sessionId)).toBeUndefined()
    expect(await ownerOfSession(users, sessionId)).toEqual({ userId, organizationId: 'home' })
    expect(await end(sessionId)).toBe('SESSION_NOT_FOUND')
    expect(await eventsOf(sessionId)).toEqual(['created', 'ended'])
  })

  test('or expired then is pruned, and a living one stays', async () => {
    const { signIn } = await newHuman()
    const [one, other] = [await signIn(), await signIn()]
    const expiry = (at: number) => users.sql`
      update aggregates set state = jsonb_set(state, '{expiresAt}', to_jsonb(${new Date(at).toISOString()}::text))
      where id = ${other.sessionId}
    `
    await expiry(Date.now() + 100 * day)
    await pruneAfter('31 days')
    expect(await stateOf(one.sessionId)).toBeUndefined()
    expect(await stateOf(other.sessionId)).toBe(false)
    expect(await end(one.sessionId)).toBe('SESSION_NOT_FOUND')
    expect(await end(other.sessionId)).toBe('ended')
  })

  test('is pruned together with more than a thousand others', async () => {
    await users.sql`
      insert into aggregates (type, id, organization_id, sequence, created_at, changed_at, state)
      select 'session', '01000000-0000-7000-8000-' || lpad(n::text, 12, '0'), 'home', 2, now(), now() - interval '90 days',
        '{"userId": "u", "expiresAt": "2020-01-01T00:00:00Z", "ended": true}'
      from generate_series(1, 2500) n
    `
    await pruneSessions(users.sql)
    expect(await users.sql`select from aggregates where id like '01000000-0000-7%'`).toHaveLength(0)
  })
})

describe('a surplus session of a user', () => {
  test('is ended once, by another replica, if the one that removed its token has died', async () => {
    const { userId, signIn } = await newHuman()
    const { sessionId } = await signIn()
    await users.sql`insert into surplus_sessions (session_id, user_id) values (${sessionId}, ${userId})`
    await Promise.all([surplusSessions.end(users), surplusSessions.end(users), surplusSessions.end(users)])
    expect(await eventsOf(sessionId)).toEqual(['created', 'ended'])
    expect(await users.sql`select from surplus_sessions`).toHaveLength(0)
  })

  test('is ended by the later of two replicas that store sessions at once', async () => {
    const { userId, signIn } = await newHuman()
    for (let n = 0; n < 3; n++) await signIn()
    const store = (sql: TestUsers['sql'] | Transaction) => {
      const row = {
        userId,
        organizationId: 'home',
        human: true,
        sessionId: uuid(),
        expiresAt: new Date(Date.now() + day),
      }
      const { row: stored, calls } = storeSession(newToken(), row, 3)
      return callFunction(sql as Transaction, calls([stored])[0]!)
    }
    let second: PromiseLike<unknown> | undefined
    await users.sql.begin(async (transaction) => {
      await store(transaction)
      second = Promise.resolve(store(users.sql))
      const waiting = () => users.sql<{ n: number }[]>`
        select count(*)::int as n from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'
      `
      await expect.poll(async () => (await waiting())[0]!.n, { timeout: 10_000 }).toBe(1)
    })
    await second
    expect(await users.sql`select from tokens where user_id = ${userId}`).toHaveLength(3)
    await surplusSessions.end(users)
  })

  test('is the oldest, not the one that expires first; expired ones do not count', async () => {
    const { userId, signIn } = await newHuman()
    const sessions = [await signIn(), await signIn(), await signIn()]
    await users.sql`update tokens set expires_at = now() + interval '9 days' where session_id = ${sessions[0]!.sessionId}`
    await users.sql`update tokens set expires_at = now() - interval '1 day' where session_id = ${sessions[1]!.sessionId}`
    sessions.push(await signIn())
    const living = () =>
      users.sql`select session_id from tokens where user_id = ${userId} and expires_at > now() order by 1`
    expect(await living()).toEqual([0, 2, 3].map((n) => ({ session_id: sessions[n]!.sessionId })))
    sessions.push(await signIn())
    expect(await living()).toEqual([2, 3, 4].map((n) => ({ session_id: sessions[n]!.sessionId })))
  })
})

describe('the addresses that a user signs in from', () => {
  const known = (userId: string) => users.sql`select address, key_id from known_addresses where user_id = ${userId}`

  test('are the last ten of each user, and the database shows none of them', async () => {
    const [one, other] = [await newHuman(), await newHuman()]
    for (let n = 0; n < 13; n++) await one.signIn(`198.51.100.${n}`)
    await other.signIn('198.51.100.12')
    const rows = await known(one.userId)
    expect(rows).toHaveLength(10)
    for (const { address } of await known(other.userId))
      expect(rows.map((row) => row['address'])).not.toContainEqual(address)
    expect(JSON.stringify(await users.sql`select k::text from known_addresses k`)).not.toContain('198.51')
    expect(JSON.stringify(await users.sql`select t::text from turns t`)).not.toContain('198.51')
  })

  test('are erased with the user', async () => {
    const { userId, signIn } = await newHuman()
    await signIn()
    await deleteUser(users, { userId, forgetNow: false }, callIn('home'))
    expect(await known(userId)).toHaveLength(0)
  })
})

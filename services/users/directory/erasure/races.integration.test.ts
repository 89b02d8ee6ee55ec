import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import postgres, { type ReservedSql, type Sql } from 'postgres'
import { anonymous } from '#lib/rpc/caller'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { mailCode } from '../../pages/recovery/request-password-reset.ts'
import { addHumanUser } from '../operations/user/add-human-user.ts'
import { deleteUser } from '../operations/user/delete-user.ts'
import { setEmail } from '../operations/user/set-email.ts'
import { rememberAddress } from '../rate-limits/known-addresses.ts'
import { callIn, openUsers, serveDomains, type TestUsers, signInBy } from '../../testing/test-users.ts'

// Locks hold the removal of a user, and what others do with the user, at the places where they meet.

const key = randomBytes(32).toString('base64')
const soon = { timeout: 15_000, interval: 20 }
const address = '198.51.100.7'
let database: TestDatabase
let users: TestUsers
let other: TestUsers
let domains: Awaited<ReturnType<typeof serveDomains>>
let admin: Sql
let userId = ''
let number = 0

beforeAll(async () => {
  database = await createDatabase()
  domains = await serveDomains({})
  users = await openUsers(database.urls.users, { ROSTER_ENCRYPTION_KEY: key })
  other = await openUsers(database.urls.users, { ROSTER_ENCRYPTION_KEY: key })
  admin = postgres(database.adminUrl, { max: 4, onnotice: () => {}, connection: { search_path: 'roster_users' } })
})
afterAll(async () => {
  await admin?.end()
  await Promise.all([users?.stop(), other?.stop()])
  await domains?.stop()
  await database?.drop()
})
beforeEach(async () => {
  userId = `raced-${++number}`
  await addHumanUser.handle(
    users,
    {
      userId,
      userName: userId,
      password: 'violet umbrella',
      profile: { firstName: 'A', lastName: 'B', preferredLanguage: '', gender: 0 },
      email: { email: `${userId}@example.com`, verification: { $case: 'isVerified', value: true } },
    },
    callIn('home'),
  )
})

const remove = () => deleteUser(other, { userId, forgetNow: false }, callIn('home'))
const signIn = () =>
  signInBy(
    users,
    { loginName: userId, password: 'violet umbrella' },
    { ...callIn(''), caller: anonymous, clientAddress: address },
  )
const askForCode = () => mailCode(users, userId, { ...callIn(''), caller: anonymous, clientAddress: address })

/** Runs a statement in a transaction of its own, which stays open. Returns the function that ends it. */
async function hold(statement: string): Promise<() => Promise<void>> {
  const connection: ReservedSql = await admin.reserve()
  await connection.unsafe(`begin; ${statement}`)
  let isHeld = true
  const release = async () => {
    if (!isHeld) return
    isHeld = false
    await connection.unsafe('rollback')
    connection.release()
  }
  // A test that fails must not hold up the next one.
  onTestFinished(release)
  return release
}
const waiting = (count: number) =>
  vi.waitFor(async () => {
    const [row] = await admin<[{ count: number }]>`
      select count(distinct pid)::int as count from pg_locks
      where not granted and pid in (select pid from pg_stat_activity where datname = current_database())
    `
    expect(row.count).toBeGreaterThanOrEqual(count)
  }, soon)

/** What is left of the user beside its events and its state. */
async function left(): Promise<string[]> {
  const tables = [
    'known_addresses',
    'login_addresses',
    'passwords',
    'tokens',
    'unsent_mails',
    'unsent_email_codes',
    'found_users',
    'found_addresses',
  ]
  const counts = tables.map(async (table) => {
    const { count } = await admin`select from ${admin(table)} where user_id = ${userId}`
    return count > 0 ? [table] : []
  })
  return (await Promise.all(counts)).flat()
}

test('an address that a sign-in remembers just before the removal goes with the user', async () => {
  await signIn()
  await admin`update known_addresses set used_at = now() - interval '2 days' where user_id = ${userId}`
  const release = await hold(`select from known_addresses where user_id = '${userId}' for update`)
  const signedIn = signIn()
  await waiting(1)
  const removed = remove()
  await waiting(2)
  await release()
  await Promise.all([signedIn, removed])
  expect(await left()).toEqual([])
})

test('an address that a sign-in would remember behind the removal is not stored', async () => {
  const release = await hold('lock table forgettings in access exclusive mode')
  const removed = remove()
  await waiting(1)
  const remembered = rememberAddress(users, userId, address, undefined)
  await waiting(2)
  await release()
  await Promise.all([remembered, removed])
  expect(await left()).toEqual([])
})

test('a session that is opened beside the removal is refused, or goes with the user', async () => {
  const outcomes = await Promise.allSettled([signIn(), remove(), signIn(), askForCode()])
  expect(outcomes[1].status).toBe('fulfilled')
  expect(await left()).toEqual([])
})

test('a code that is asked for just before the removal goes with the user', async () => {
  const release = await hold('lock table unsent_mails in share mode')
  const asked = askForCode()
  await waiting(1)
  const removed = remove()
  await waiting(2)
  await release()
  await Promise.all([asked, removed])
  const events =
    await admin`select from events where aggregate_id = ${userId} and aggregate_type = 'user.password.code'`
  expect(events).toHaveLength(1)
  expect(await left()).toEqual([])
})

test('a code that is asked for while the removal commits is not made', async () => {
  const release = await hold('lock table forgettings in access exclusive mode')
  const removed = remove()
  await waiting(1)
  const email = { userId, email: 'new@example.com', verification: undefined }
  const work = [askForCode(), setEmail.handle(users, email, callIn('home'))]
  await waiting(2)
  await release()
  await Promise.allSettled([...work, removed])
  const events = await admin`select from events where aggregate_id = ${userId} and type like '%code%'`
  expect(events).toHaveLength(0)
  expect(await left()).toEqual([])
})

test('the key goes in the transaction of the removal: no user is removed whose key is still there', async () => {
  const release = await hold('lock table subject_keys in share mode')
  const removed = remove()
  await waiting(1)
  const isRemoved = async () => {
    const [row] = await admin`select state ? 'removed' as is from aggregates where type = 'user' and id = ${userId}`
    return row!['is'] as boolean
  }
  const before = await isRemoved()
  await release()
  await removed
  expect([before, await isRemoved()]).toEqual([false, true])
  expect(await admin`select from subject_keys where subject_id = ${userId}`).toHaveLength(0)
})

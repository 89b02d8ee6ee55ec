import postgres from 'postgres'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { roster } from '#lib/health/release'
import { anonymous } from '#lib/rpc/caller'
import { createFeed } from '#lib/subscriptions/feed'
import { connectNats } from '#lib/nats/connect-nats'
import { testServers } from '#test/support/servers'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { mailCode } from '../../pages/recovery/request-password-reset.ts'
import { addHumanUser } from '../operations/user/add-human-user.ts'
import { deleteUser } from '../operations/user/delete-user.ts'
import { setEmail } from '../operations/user/set-email.ts'
import { statuses } from '../organizations/statuses.ts'
import { callIn, openUsers, serveDomains, type TestUsers } from '../../testing/test-users.ts'
import { keepLoginAddresses, startKeepingLoginAddresses } from './login-addresses.ts'
import { findLoginUser } from './meaning.ts'
import { readProvedAddresses } from './read-proofs.ts'

let database: TestDatabase
let domains: Awaited<ReturnType<typeof serveDomains>>
let nats: Awaited<ReturnType<typeof connectNats>>
let [one, other]: TestUsers[] = []
const keepers: { stop(): Promise<void> }[] = []

beforeAll(async () => {
  database = await createDatabase()
  domains = await serveDomains({ 'home.test': 'home' }, {}, { owned: { home: 'home.test' } })
  ;[one, other] = [await openUsers(database.urls.users), await openUsers(database.urls.users)]
  nats = await connectNats(testServers().natsUrl.users, 'users', one.log)
})
afterAll(async () => {
  await Promise.all(keepers.map((keeper) => keeper.stop()))
  await nats?.connection.close()
  await Promise.all([one?.stop(), other?.stop()])
  await domains?.stop()
  await database?.drop()
})

/** Lets a replica follow the events. */
function keep(users: TestUsers) {
  const { sql, log, personal } = users
  const list = createFeed({ service: 'users', sql, log, personal })
  keepers.push(startKeepingLoginAddresses(users, nats, (request) => list({}, request), 50))
}

const verified = { $case: 'isVerified' as const, value: true }
const unverified = { $case: 'isVerified' as const, value: false }
/** A call of a manager of the organization, whose word counts there alone. */
const manager = (organizationId: string) => ({
  ...callIn(organizationId),
  caller: { ...anonymous, userId: 'm', organizationRoles: { [organizationId]: ['ORG_USER_MANAGER'] } },
})
const add = async (userId: string, email: string, { by = callIn('home'), userName = userId, users = one! } = {}) =>
  addHumanUser.handle(
    users,
    {
      userId,
      userName,
      password: undefined,
      profile: { firstName: 'A', lastName: 'B', preferredLanguage: '', gender: 0 },
      email: { email, verification: verified },
    },
    by,
  )
const change = (userId: string, email: string, verification = verified) =>
  setEmail.handle(one!, { userId, email, verification }, callIn('home'))
const meantBy = async (name: string, organizationId = '') =>
  (await findLoginUser(other!, name, callIn(organizationId)))?.userId
const rows = (userId: string) => one!.sql`select from login_addresses where user_id = ${userId}`

test('what was proved before anybody follows is there by the order of events, whoever follows', async () => {
  await add('late', 'unproved@example.com', { by: callIn('abroad') })
  await add('early', 'old@example.com')
  await change('late', 'old@example.com')
  keep(one!)
  keep(other!)
  const seen = new Set<string | undefined>()
  const look = async () => seen.add(await meantBy('old@example.com')).has('early')
  await expect.poll(look, { interval: 1 }).toBe(true)
  await expect.poll(() => rows('late')).toHaveLength(1)
  expect(await meantBy('old@example.com')).toBe('early')
  expect(seen).not.toContain('late')
})

test('of twenty who prove one address at once, over two replicas, the first of their events has it', async () => {
  const email = 'rush@example.com'
  const ids = Array.from({ length: 20 }, (_, index) => `rush-${index}`)
  await Promise.all(
    ids.map((id, index) => add(id, email, { by: callIn(`o${index}`), users: index % 2 ? one! : other! })),
  )
  const [first] = await one!.sql<{ id: string }[]>`
    select aggregate_id as id from events where aggregate_id = any(${ids}) order by position limit 1
  `
  const kept = async () => (await one!.sql`select from login_addresses where user_id like 'rush%'`).count
  await expect.poll(kept).toBe(ids.length)
  await expect.poll(() => meantBy(email)).toBe(first!.id)
})

test('a name with an @ is a qualified name, then a proved address, then a user name, then a word of the organization', async () => {
  const name = 'ada@home.test'
  await add('word', name, { by: manager('away') })
  await expect.poll(() => meantBy(name, 'away')).toBe('word')
  expect(await meantBy(name)).toBeUndefined()

  await add('named', 'other@example.com', { by: callIn('away'), userName: name })
  for (const within of ['', 'away']) expect(await meantBy(name, within)).toBe('named')

  await add('addressed', name, { by: callIn('away') })
  for (const within of ['', 'away']) await expect.poll(() => meantBy(name, within)).toBe('addressed')
  expect(await meantBy(name, 'home')).toBeUndefined()

  await add('ada', 'ada@example.com')
  expect(await meantBy(name)).toBe('ada')
  expect(await meantBy(name, 'home')).toBe('ada')
  expect(await meantBy(name, 'away')).toBe('addressed')
})

test('an address is read in any case, width and spelling of its domain, and no other dots', async () => {
  await add('unicode', 'Grace@bücher.example')
  const spellings = ['grace@BÜCHER.example', 'ｇｒａｃｅ＠bücher.example', ' grace@xn--bcher-kva.example\u200b']
  for (const name of spellings) await expect.poll(() => meantBy(name)).toBe('unicode')
  for (const name of [
    'grace@bücher.example.',
    'gr.ace@bücher.example',
    'grace+a@bücher.example',
    'grace@bucher.example',
  ])
    expect(await meantBy(name), name).toBeUndefined()
})

test('the word of a manager counts everywhere for the domain that the instance gave the organization', async () => {
  await add('own', 'own@HOME.test', { by: manager('home') })
  await add('sub', 'sub@mail.home.test', { by: manager('home') })
  await add('foreign', 'foreign@home.test', { by: manager('away') })
  const names = ['own@home.test', 'sub@mail.home.test', 'foreign@home.test']
  for (const [name, within] of [
    [names[0], 'home'],
    [names[1], 'home'],
    [names[2], 'away'],
  ] as const)
    await expect.poll(() => meantBy(name!, within)).toBe(name!.split('@')[0])
  expect(await Promise.all(names.map((name) => meantBy(name)))).toEqual(['own', undefined, undefined])
})

test('a word counts in the organization alone while a replica of the former release is connected', async () => {
  const replica = await openUsers(database.urls.users)
  const former = postgres(database.urls.users, {
    max: 1,
    connection: { application_name: `roster-users ${roster.former}.0` },
  })
  await former`select 1`
  await add('beside', 'beside@example.com', { users: replica })
  await former.end()
  await replica.stop()
  await expect.poll(() => meantBy('beside@example.com', 'home')).toBe('beside')
  expect(await meantBy('beside@example.com')).toBeUndefined()
  // Then who has the permission says it again.
  await change('beside', 'beside@example.com')
  await expect.poll(() => meantBy('beside@example.com')).toBe('beside')
})

test('an address stays while the new one is not proved, goes to the earliest other person, and is not inherited from a closed organization', async () => {
  const email = 'shared@example.com'
  const people = ['first', 'second', 'third']
  for (const id of people) await add(id, email, { by: callIn(id) })
  await expect.poll(() => rows('third')).toHaveLength(1)
  await change('first', 'new@example.com', unverified)
  // The events before this one have been followed.
  await add('mark', 'mark@example.com')
  await expect.poll(() => meantBy('mark@example.com')).toBe('mark')
  expect(await meantBy(email)).toBe('first')
  await change('first', 'new@example.com')
  await expect.poll(() => meantBy(email)).toBe('second')

  const event = { id: 'grants-1', type: 'roster.organization.deactivated.v1', aggregateId: 'second', sequence: 2 }
  const rest = { organizationId: 'second', actor: '', requestId: '' }
  await statuses.record(one!.store, { ...event, ...rest } as Parameters<typeof statuses.record>[1])
  expect(await meantBy(email)).toBeUndefined()
  await deleteUser(one!, { userId: 'second', forgetNow: false }, callIn('second'))
  expect(await meantBy(email)).toBe('third')
})

test('an address whose verification is taken back names its person no more', async () => {
  await add('retracted', 'retracted@example.com')
  await expect.poll(() => meantBy('retracted@example.com')).toBe('retracted')
  await change('retracted', 'retracted@example.com', unverified)
  await expect.poll(() => rows('retracted')).toHaveLength(0)
  expect(await meantBy('retracted@example.com')).toBeUndefined()
})

test('a long history is read once, and names the person as a short one does', async () => {
  await add('often', 'often-0@example.com')
  for (let i = 1; i <= 25; i++) await change('often', `often-${i}@example.com`)
  // The others follow, so they may read at any time.
  const alone = await openUsers(database.urls.users)
  onTestFinished(() => alone.stop())
  const read = vi.spyOn(alone.personal, 'decryptEvents')
  await keepLoginAddresses(alone, 'often')
  for (const [email, verification, named] of [
    ['often-26@example.com', verified, 'often'],
    ['often-26@example.com', unverified, undefined],
  ] as const) {
    read.mockClear()
    await change('often', email, verification)
    await keepLoginAddresses(alone, 'often')
    for (const [, events] of read.mock.calls) expect(events.length).toBeLessThan(5)
    expect(read).toHaveBeenCalled()
    await expect.poll(() => meantBy(email)).toBe(named)
  }
  await deleteUser(one!, { userId: 'often', forgetNow: true }, callIn('home'))
  expect(await readProvedAddresses(alone.sql, alone.personal, 'often')).toEqual([])
})

test('what changes while the rows are written is in them', async () => {
  const nobodyFollows = await createDatabase()
  const users = await openUsers(nobodyFollows.urls.users)
  onTestFinished(async () => {
    await users.stop()
    await nobodyFollows.drop()
  })
  const email = 'raced@example.com'
  await add('raced', email, { users })
  let keeping: Promise<void>
  await users.sql.begin(async (transaction) => {
    await transaction`lock table login_addresses in share mode`
    keeping = keepLoginAddresses(users, 'raced')
    const waits = async () =>
      (await transaction`select from pg_locks where relation = 'login_addresses'::regclass and not granted`).count
    await expect.poll(waits).toBe(1)
    await setEmail.handle(users, { userId: 'raced', email, verification: unverified }, callIn('home'))
  })
  await keeping!
  expect(await users.sql`select from login_addresses`).toHaveLength(0)
})

test('a former address recovers nothing', async () => {
  await add('moved', 'moved@example.com')
  await expect.poll(() => meantBy('moved@example.com')).toBe('moved')
  const mails = () => one!.sql`select from unsent_mails where user_id = 'moved' and kind = 'password-reset'`
  const ask = (name: string) => mailCode(one!, name, { ...callIn(''), caller: anonymous })
  // By the word of its manager, the new address recovers, and does not take the place of the proved one.
  await setEmail.handle(one!, { userId: 'moved', email: 'moved@away.test', verification: verified }, manager('home'))
  await ask('moved@example.com')
  expect(await mails()).toHaveLength(0)
  await ask('moved')
  expect(await mails()).toHaveLength(1)
})

test('grants is asked once for each name with an @, and one statement answers, whoever exists', async () => {
  const lookups = vi.spyOn(other!.grants, 'lookupOrganization')
  onTestFinished(() => lookups.mockRestore())
  for (const name of ['ada@home.test', 'nobody@home.test', 'own@home.test', 'nobody@nowhere.test', '@', 'a@b@']) {
    lookups.mockClear()
    for (const within of ['', 'home', 'away']) await meantBy(name, within)
    expect(lookups, name).toHaveBeenCalledTimes(3)
  }
})

test('an address that is kept beside the removal goes with its user', async () => {
  await add('gone', 'gone@example.com')
  await expect.poll(() => rows('gone')).toHaveLength(1)
  const keeping = Promise.all(Array.from({ length: 10 }, () => keepLoginAddresses(other!, 'gone')))
  await deleteUser(one!, { userId: 'gone', forgetNow: false }, callIn('home'))
  await keeping
  await keepLoginAddresses(other!, 'gone')
  expect(await rows('gone')).toHaveLength(0)
})

import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ListEventsResponse } from '#gen/roster/feed/v1/feed'
import { MailKind } from '#gen/roster/users/v1/internal_service'
import { createFeed } from '#lib/subscriptions/feed'
import { read } from '#lib/subscriptions/feed-rows'
import { rewrapKeys } from '#lib/encryption/rewrap-keys'
import { keepRecentEvents } from '#lib/events/recent-events'
import { tablesWith } from '#test/support/all-rows'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { untilForeignTransactionsEnd } from '#test/support/foreign-transactions'
import { findLoginUser } from './directory/login-names/meaning.ts'
import { addHumanUser } from './directory/operations/user/add-human-user.ts'
import { recordEmailCode } from './internal/mails/record-email-code.ts'
import { bulkAddUsers } from './directory/operations/user/bulk-add-users.ts'
import { isUserUnique } from './directory/operations/find/is-user-unique.ts'
import { searchUsers } from './directory/operations/find/search-users.ts'
import { listUserChanges } from './directory/operations/find/list-user-changes.ts'
import { setEmail } from './directory/operations/user/set-email.ts'
import { updateUserName } from './directory/operations/user/update-user-name.ts'
import { getUser } from './directory/operations/user/get-user.ts'
import { removedUser } from './directory/states/removed-user.ts'
import { callIn, openUsers, serveDomains, type TestUsers } from './testing/test-users.ts'
import type { User } from './directory/events/user.ts'

const formerKey = randomBytes(32).toString('base64')
const profile = (firstName: string) => ({
  firstName,
  lastName: 'Zyx-Lastname',
  preferredLanguage: 'de',
  gender: 1 as const,
})
const verified = { $case: 'isVerified' as const, value: true }

let database: TestDatabase
let domains: Awaited<ReturnType<typeof serveDomains>>
let users: TestUsers
let other: TestUsers
const call = () => callIn('acme')

beforeAll(async () => {
  database = await createDatabase()
  domains = await serveDomains({})
  users = await openUsers(database.urls.users, { ROSTER_ENCRYPTION_KEY: formerKey })
  other = await openUsers(database.urls.users, { ROSTER_ENCRYPTION_KEY: formerKey })
})
afterAll(async () => {
  await Promise.all([users.stop(), other.stop()])
  await domains.stop()
  await database.drop()
})

function addHuman(userName: string, by = users) {
  const email = { email: `${userName}@mail.example`, verification: verified }
  return addHumanUser.handle(
    by,
    { userId: userName, userName: `${userName}-name`, profile: profile(`${userName}-first`), email },
    call(),
  )
}

async function remove(userId: string, by = users) {
  await by.store.execute({
    aggregate: { type: 'user', id: userId },
    call: call(),
    decide: ({ state, organizationId }) => removedUser(state as User, organizationId),
  })
}

const everything = { organizationId: '', aggregateTypes: [], eventTypes: [], actors: [], since: undefined }
async function list(by: TestUsers, userId: string, recent = keepRecentEvents()): Promise<ListEventsResponse> {
  await untilForeignTransactionsEnd(by.sql)
  const feed = createFeed({ service: 'users', sql: by.sql, log: by.log, personal: by.personal, recent })
  const filter = { ...everything, aggregateIds: [userId] }
  return feed({}, { after: { transactionId: 0, position: 0 }, fromEnd: false, filter, limit: 100 })
}

const textsOf = (name: string) => [`${name}-name`, `${name}-first`, `${name}@mail.example`, `${name}@new.example`]
const searched = ['found_addresses', 'found_users']

test('what is personal stands encrypted in every table but those of searches, and is read as it was written', async () => {
  await addHuman('ada')
  await setEmail.handle(
    users,
    {
      userId: 'ada',
      email: 'ada@new.example',
      verification: { $case: 'sendCode', value: { urlTemplate: 'https://app.example/ada-name?{{.Code}}' } },
    },
    call(),
  )
  expect(await tablesWith(users.sql, [...textsOf('ada'), 'Zyx-Lastname'])).toEqual(searched)
  for (const by of [users, other]) {
    const { user } = await getUser(by, { userId: 'ada' })
    expect(user).toMatchObject({ userName: 'ada-name', type: { value: { email: { email: 'ada@new.example' } } } })
    expect((await findLoginUser(by, 'ADA-name', call()))?.state.human?.profile.firstName).toBe('ada-first')
    const { events } = await list(by, 'ada')
    expect(
      events.map(({ event }) => [event!.dataOmitted, event!.data?.['email'] ?? event!.data?.['urlTemplate']]),
    ).toEqual([
      ['', 'ada@mail.example'],
      ['', 'ada@new.example'],
      ['', 'https://app.example/ada-name?{{.Code}}'],
      ['', undefined],
    ])
  }
})

test('once a user is removed, no table has anything of it, and its events come without what was personal, at each replica', async () => {
  await addHuman('grace')
  await setEmail.handle(users, { userId: 'grace', email: 'grace@new.example', verification: verified }, call())
  // Both replicas know the key, and one has the events in memory.
  const recent = keepRecentEvents()
  const all = { ...everything, aggregateIds: [] }
  const rows = await read(
    other.sql,
    { transactionId: 0, position: 0 },
    { transactionId: 2 ** 50, position: 0 },
    all,
    1000,
  )
  recent.add({ transaction_id: '0', position: '0' }, rows, 1000)
  expect((await list(other, 'grace', recent)).events[0]!.event!.data?.['userName']).toBe('grace-name')

  await remove('grace')
  expect(await tablesWith(users.sql, textsOf('grace'))).toEqual([])
  expect(await users.sql`select from subject_keys where subject_id = 'grace'`).toHaveLength(0)
  const { events } = await list(other, 'grace')
  expect(events.map(({ event }) => [event!.type, event!.dataOmitted, event!.data])).toEqual([
    ['roster.user.human.added.v1', 'forgotten', { isVerified: true, vouchedOn: 'instance' }],
    [
      'roster.user.email.changed.v1',
      'forgotten',
      { isVerified: true, vouched: true, vouchedOn: 'instance', setBy: 'root' },
    ],
    ['roster.user.email.notice.requested.v1', '', expect.anything()],
    ['roster.user.removed.v1', '', {}],
  ])
  expect((await list(other, 'grace', recent)).events[0]!.event!.data).toEqual({
    isVerified: true,
    vouchedOn: 'instance',
  })
  await expect(getUser(other, { userId: 'grace' })).rejects.toMatchObject({ reason: 'USER_NOT_FOUND' })
  await expect(addHuman('grace')).rejects.toMatchObject({ reason: 'USER_ID_TAKEN' })
})

test('how a mail ended reveals nothing of a user who was removed meanwhile', async () => {
  await addHuman('anna')
  await setEmail.handle(users, { userId: 'anna', email: 'anna@new.example', verification: verified }, call())
  const [{ id }] = await users.sql<[{ id: string }]>`select mail_id as id from unsent_mails where user_id = 'anna'`
  await remove('anna')
  const end = { userId: 'anna', codeId: id, kind: MailKind.MAIL_KIND_EMAIL_CHANGED, mails: [] }
  await recordEmailCode(users, { ...end, failure: 'SMTP 550: anna@mail.example is unknown' }, call())
  expect(await tablesWith(users.sql, textsOf('anna'))).toEqual([])
  const { event } = (await list(other, 'anna')).events.at(-1)!
  expect(event).toMatchObject({ type: 'roster.user.email.notice.failed.v1', dataOmitted: 'forgotten' })
  expect(event!.data).not.toHaveProperty('failure')
})

test('who swaps encrypted rows gets nothing to read: they open in their own place alone', async () => {
  for (const name of ['hedy', 'joan']) await addHuman(name)
  await setEmail.handle(users, { userId: 'hedy', email: 'hedy@new.example', verification: verified }, call())
  const payload = async (id: string, sequence: number) =>
    (
      await users.sql<
        { payload: object }[]
      >`select payload from events where aggregate_id = ${id} and sequence = ${sequence}`
    )[0]!.payload
  const [own, foreign] = [await payload('hedy', 2), await payload('joan', 1)]
  for (const forged of [
    foreign,
    { ...own, isVerified: true, $sealed: ((await payload('hedy', 1)) as { $sealed: string }).$sealed },
  ]) {
    await users.sql`update events set payload = ${users.sql.json(forged as never)} where aggregate_id = 'hedy' and sequence = 2`
    const { events } = await list(other, 'hedy')
    expect(events.map(({ event }) => event!.dataOmitted)).toEqual(['', 'unreadable', ''])
  }
  const { changes } = await listUserChanges(other, { userId: 'hedy', limit: 0, cursor: '' }, call())
  expect(changes.map(({ dataOmitted }) => dataOmitted)).toContain('unreadable')
  await users.sql`
    update aggregates set state = (select state from aggregates where type = 'user' and id = 'joan')
    where type = 'user' and id = 'hedy'
  `
  await expect(getUser(other, { userId: 'hedy' })).rejects.toThrow()
})

test('user names are unique by their hashes, in any letters, at each replica, and free after a change', async () => {
  await addHuman('ruth')
  const taken = addHumanUser.handle(
    other,
    {
      userId: 'ruth2',
      userName: 'RUTH-name',
      profile: profile('x'),
      email: { email: 'x@mail.example', verification: verified },
    },
    call(),
  )
  await expect(taken).rejects.toMatchObject({ reason: 'USER_NAME_TAKEN' })
  const isUnique = (userName: string) => isUserUnique.handle(other, { userName, email: '' }, call())
  expect(await isUnique('Ruth-NAME')).toEqual({ isUnique: false })
  await updateUserName.handle(users, { userId: 'ruth', userName: 'ruthie' }, call())
  expect(await isUnique('ruth-name')).toEqual({ isUnique: true })
  expect(await isUnique('ruthie')).toEqual({ isUnique: false })
  const names = await Promise.allSettled(
    [users, other].map((by, index) =>
      addHumanUser.handle(
        by,
        {
          userId: `same${index}`,
          userName: 'Same',
          profile: profile('x'),
          email: { email: 'x@mail.example', verification: verified },
        },
        call(),
      ),
    ),
  )
  expect(names.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
})

test('the claim of a name takes a secret of this database: under the same encryption key, another one has another claim', async () => {
  const elsewhere = await createDatabase()
  const stranger = await openUsers(elsewhere.urls.users, { ROSTER_ENCRYPTION_KEY: formerKey })
  try {
    const claimOf = async (by: TestUsers) => {
      await addHuman('lise', by)
      const rows = await by.sql<{ key: string }[]>`select key from unique_keys where aggregate_id = 'lise'`
      expect(rows).toHaveLength(1)
      return rows[0]!.key
    }
    expect(await claimOf(stranger)).not.toBe(await claimOf(users))
  } finally {
    await stranger.stop()
    await elsewhere.drop()
  }
})

test('a bulk makes a key for each of its users, and leaves none for one that it refuses', async () => {
  const human = (userName: string) => ({
    user: {
      $case: 'human' as const,
      value: {
        userId: `bulk-${userName.slice(4)}`,
        userName,
        profile: profile(userName),
        email: { email: `${userName}@mail.example`, verification: verified },
      },
    },
  })
  const names = Array.from({ length: 200 }, (_, number) => `many${number}`)
  const { results } = await bulkAddUsers.handle(users, { users: [...names, 'many7'].map(human) }, call())
  expect(results.filter(({ outcome }) => outcome?.$case === 'done')).toHaveLength(200)
  const rows = await users.sql`select from subject_keys where subject_id like 'bulk-%'`
  expect(rows).toHaveLength(200)
  expect(await tablesWith(users.sql, ['many123'])).toEqual(searched)
  const { user } = await getUser(other, { userId: 'bulk-123' })
  expect(user!.userName).toBe('many123')
})

test('after a change of the encryption key, all is read with the new one alone, and names stay taken', async () => {
  await addHuman('mary')
  const newKey = randomBytes(32).toString('base64')
  const both = await openUsers(database.urls.users, { ROSTER_ENCRYPTION_KEY: `${newKey},${formerKey}` })
  await Promise.all([1, 2].map(() => rewrapKeys(both.sql, both.keys, both.log, new AbortController().signal)))
  await both.stop()
  const alone = await openUsers(database.urls.users, { ROSTER_ENCRYPTION_KEY: newKey })
  try {
    expect((await getUser(alone, { userId: 'mary' })).user!.userName).toBe('mary-name')
    const again = addHumanUser.handle(
      alone,
      {
        userId: 'mary2',
        userName: 'Mary-Name',
        profile: profile('x'),
        email: { email: 'x@mail.example', verification: verified },
      },
      call(),
    )
    await expect(again).rejects.toMatchObject({ reason: 'USER_NAME_TAKEN' })
    await addHuman('new', alone)
  } finally {
    await alone.stop()
  }
})

test('a row that somebody changed hinders no other: feeds go on, and searches find the other users', async () => {
  for (const name of ['vera', 'wera']) await addHuman(name)
  await users.sql`update subject_keys set wrapped = '\\x00' where subject_id = 'vera'`
  expect((await list(other, 'vera')).events.map(({ event }) => event!.dataOmitted)).toEqual(['unreadable'])
  expect((await list(other, 'wera')).events.map(({ event }) => event!.dataOmitted)).toEqual([''])
  const found = await searchUsers.handle(
    other,
    {
      queries: [],
      limit: 1000,
      cursor: '',
      sortingColumn: 0,
      descending: false,
      withTotal: false,
      allOrganizations: false,
      withFactors: false,
      withLastSignIn: false,
    },
    call(),
  )
  const ids = found.users.map(({ userId }) => userId)
  expect(ids).toContain('wera')
  expect(ids).not.toContain('vera')
})

import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { createFeed } from '#lib/eventstore/feed'
import { sealPortion } from '#lib/eventstore/sealing/seal-portion'
import { sealedNote } from '#lib/eventstore/releases'
import { tablesWith } from '#test/support/all-rows'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { untilForeignTransactionsEnd } from '#test/support/foreign-transactions'
import { findLoginUser } from './sign-in/login-user.ts'
import { findNotice } from './email/notice.ts'
import { model } from './model.ts'
import { addHumanUser } from './operations/user/add-human-user.ts'
import { addMachineUser } from './operations/user/add-machine-user.ts'
import { getUser } from './operations/user/get-user.ts'
import { setEmail } from './operations/user/set-email.ts'
import { updateHumanProfile } from './operations/user/update-human-profile.ts'
import { findAgain } from './search/found-users.ts'
import { startSealingUsers } from './start-sealing-users.ts'
import { removedUser } from './states/removed-user.ts'
import { callIn, openUsers, serveDomains, type TestUsers } from './test-users.ts'
import type { User } from './vocabulary/user.ts'

const verified = { $case: 'isVerified' as const, value: true }
const profile = { firstName: 'Zyxwvut-First', lastName: 'Zyxwvut-Last', preferredLanguage: '', gender: 0 as const }
const call = () => callIn('acme')
const number = 120

let database: TestDatabase
let domains: Awaited<ReturnType<typeof serveDomains>>
let replicas: TestUsers[]

beforeAll(async () => {
  database = await createDatabase()
  domains = await serveDomains({})
  // As a database of the release before: nobody has begun to seal.
  const first = await openUsers(database.urls.users)
  await first.sql`update sealing set phase = 'off'`
  await first.sql`delete from migrations where name = ${sealedNote}`
  await first.stop()
  replicas = [await openUsers(database.urls.users), await openUsers(database.urls.users)]
})
afterAll(async () => {
  await Promise.all(replicas.map((replica) => replica.stop()))
  await domains.stop()
  await database.drop()
})

const add = (by: TestUsers, userId: string, userName: string) =>
  addHumanUser.handle(by, { userId, userName, profile, email: { email: `${userId}@zyxwvut.example`, verification: verified } }, call()) // prettier-ignore

async function told(by: TestUsers) {
  await untilForeignTransactionsEnd(by.sql)
  const feed = createFeed({ service: 'users', sql: by.sql, log: by.log, personal: by.personal })
  const { events } = await feed({}, { after: undefined, fromEnd: false, filter: undefined, limit: 1000 })
  return events.map(({ event }) => [event!.id, event!.type, event!.dataOmitted, event!.data])
}

/** The tables of which PostgreSQL's own samples tell of a person. */
async function sampled() {
  const rows = await replicas[0]!.sql<{ name: string }[]>`
    select distinct tablename as name from pg_stats where schemaname = current_schema()
      and (most_common_vals::text ilike '%zyxwvut%' or histogram_bounds::text ilike '%zyxwvut%')
    order by 1
  `
  return rows.map(({ name }) => name)
}

test('what the former release stored in plain is sealed while both replicas work, and reads as before', async () => {
  const [one, other] = replicas as [TestUsers, TestUsers]
  for (let n = 0; n < number; n++) await add(replicas[n % 2]!, `u${n}`, `Zyxwvut-Name${n}`)
  await addMachineUser(one, { userId: 'robot', userName: 'Zyxwvut-Robot', name: 'Zyxwvut-Bot', description: 'Zyxwvut-Does', accessTokenType: 0 }, call()) // prettier-ignore
  await setEmail.handle(one, { userId: 'u1', email: 'new@zyxwvut.example', verification: verified }, call())
  await add(one, 'gone', 'Zyxwvut-Gone')
  await one.store.execute({
    aggregate: { type: 'user', id: 'gone' },
    call: call(),
    decide: ({ state, organizationId }) => removedUser(state as User, organizationId),
  })
  await one.sql`analyze`
  expect(await sampled()).toEqual(expect.arrayContaining(['aggregates', 'events', 'unique_keys']))
  const plain = ['aggregates', 'events', 'first_keys', 'found_addresses', 'found_users', 'unique_keys', 'unsent_mails']
  expect(await tablesWith(one.sql, ['zyxwvut'])).toEqual(plain)
  const before = await told(one)
  const users = await Promise.all(['u0', 'u1', 'robot'].map((userId) => getUser(one, { userId })))

  // A run that ends after its first portion.
  await one.sql`update sealing set phase = 'begun', wanted = true`
  one.personal.phase = 'begun'
  const sealed: Parameters<typeof sealPortion>[0]['sealed'] = (t, people) => findAgain(t, people as never)
  await sealPortion({ sql: one.sql, personal: one.personal, vocabulary: model, sealed, finished: async () => {} }, '')
  expect(await getUser(other, { userId: 'u0' })).toEqual(users[0])

  const sealings = replicas.map((replica) => startSealingUsers(replica, 0))
  // Meanwhile they write: names of both forms meet.
  const names = await Promise.allSettled([
    add(other, 'second', 'zyxwvut-name5'),
    add(one, 'third', 'Zyxwvut-Meanwhile'),
    add(other, 'fourth', 'zyxwvut-MEANWHILE'),
    updateHumanProfile.handle(other, { userId: 'u7', nickName: 'Zyxwvut-Nick' }, call()),
  ])
  expect(names.map(({ status }) => status)).toEqual(['rejected', expect.anything(), expect.anything(), 'fulfilled'])
  expect(
    names
      .slice(1, 3)
      .map(({ status }) => status)
      .toSorted(),
  ).toEqual(['fulfilled', 'rejected'])
  await vi.waitFor(() => expect(replicas.map(({ personal }) => personal.phase)).toEqual(['on', 'on']), 30_000)
  await Promise.all(sealings.map((sealing) => sealing.stop()))

  expect(await tablesWith(one.sql, ['zyxwvut'])).toEqual(['found_addresses', 'found_users'])
  expect(await sampled()).toEqual(['found_addresses', 'found_users'])
  const gone = before.filter(([, , , data]) => JSON.stringify(data).includes('Zyxwvut-Gone')).map(([id]) => id)
  expect((await told(other)).slice(0, before.length)).toEqual(
    before.map(([id, type, omitted, data]) => gone.includes(id) ? [id, type, 'forgotten', { isVerified: true }] : [id, type, omitted, data]), // prettier-ignore
  )
  for (const [index, userId] of ['u0', 'u1', 'robot'].entries())
    expect(await getUser(other, { userId })).toEqual(users[index])
  expect((await findLoginUser(other, 'zyxwvut-name119', call()))?.userId).toBe('u119')
  await expect(add(other, 'again', 'ZYXWVUT-NAME3')).rejects.toMatchObject({ reason: 'USER_NAME_TAKEN' })
  const [notice] = await one.sql<{ mail_id: string; address: null }[]>`select mail_id, address from unsent_mails`
  expect(notice!.address).toBeNull()
  expect(await findNotice(other, 'u1', notice!.mail_id)).toMatchObject({ address: 'u1@zyxwvut.example' })
})

test('a replica that has not heard of it takes no name that another one holds', async () => {
  const [one, other] = replicas as [TestUsers, TestUsers]
  await add(one, 'held', 'Held')
  other.personal.phase = 'off'
  await expect(add(other, 'held2', 'held')).rejects.toMatchObject({ reason: 'USER_NAME_TAKEN' })
  expect(other.personal.phase).toBe('on')
})

import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { sealedNote } from '#lib/eventstore/releases'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { addMachineUser } from '../operations/user/add-machine-user.ts'
import { updateUserName } from '../operations/user/update-user-name.ts'
import { startSealingUsers } from '../start-sealing-users.ts'
import { removedUser } from '../states/removed-user.ts'
import { callIn, openUsers, serveDomains, type TestUsers } from '../test-users.ts'
import type { User } from '../vocabulary/user.ts'
import { fillBareNames } from './fill-bare-names.ts'
import { findLoginUser } from './login-user.ts'

let database: TestDatabase
let domains: Awaited<ReturnType<typeof serveDomains>>
let [one, other]: TestUsers[] = []

beforeAll(async () => {
  database = await createDatabase()
  domains = await serveDomains({})
  // As a database of a former release: nothing is sealed.
  const first = await openUsers(database.urls.users)
  await first.sql`update sealing set phase = 'off'`
  await first.sql`delete from migrations where name = ${sealedNote}`
  await first.stop()
  ;[one, other] = [await openUsers(database.urls.users), await openUsers(database.urls.users)]
  await fillBareNames(one.sql)
})
afterAll(async () => {
  await Promise.all([one!.stop(), other!.stop()])
  await domains.stop()
  await database.drop()
})

const add = (organizationId: string, userName: string, by = one!) =>
  addMachineUser(by, { userId: `${userName}-${organizationId}`.toLowerCase(), userName, name: 'N', description: '', accessTokenType: 0 }, callIn(organizationId)) // prettier-ignore
const rename = (userId: string, userName: string) =>
  updateUserName.handle(one!, { userId, userName }, callIn(userId.split('-')[1]!))
const remove = (userId: string) =>
  one!.store.execute({
    aggregate: { type: 'user', id: userId },
    call: callIn(''),
    decide: ({ state, organizationId }) => removedUser(state as User, organizationId),
  })
const holderOf = async (name: string, by = other!) => (await findLoginUser(by, name, callIn('')))?.userId

/** Takes away what this release knows of bare names. */
async function asBefore() {
  await one!.sql`delete from first_keys`
  await one!.sql`update first_key_kinds set filled = false`
}

test('of forty users of one name at once, over two replicas, all are added and one has the bare name', async () => {
  const organizations = Array.from({ length: 40 }, (_, index) => `o${index}`)
  await Promise.all(organizations.map((organization, index) => add(organization, 'rush', index % 2 ? one : other)))
  const rows = await one!.sql`select scope from first_keys where key = 'rush'`
  expect(rows).toHaveLength(1)
  expect(await holderOf('RUSH')).toBe(`rush-${rows[0]!['scope']}`)
})

test('a user of an earlier version keeps a name with a character that cannot be seen', async () => {
  await add('a', 'o\u00addd')
  await add('b', 'odd')
  const holders = await Promise.all(['o\u00addd', 'odd', ' od\u00add'].map((name) => holderOf(name)))
  expect(holders).toEqual(['o\u00addd-a', 'odd-b', 'odd-b'])
})

test('users of earlier versions have the names by the order of events, once', async () => {
  await add('b', 'old')
  await add('a', 'OLD')
  await add('c', 'late')
  await add('a', 'renamed')
  await add('b', 'renamed')
  await rename('renamed-a', 'elsewhere')
  await rename('renamed-a', 'renamed')
  await asBefore()
  await Promise.all([fillBareNames(one!.sql), fillBareNames(other!.sql)])
  const holders = await Promise.all(['old', 'late', 'renamed', 'elsewhere'].map((name) => holderOf(name)))
  expect(holders).toEqual(['old-b', 'late-c', 'renamed-b', undefined])

  await remove('old-b')
  await fillBareNames(one!.sql)
  expect(await holderOf('old')).toBeUndefined()
})

test('a user whom a former replica is just adding is not left out', async () => {
  await add('a', 'between')
  await asBefore()
  let filling: Promise<void> | undefined
  await one!.sql.begin(async (former) => {
    await former`update unique_keys set aggregate_id = aggregate_id where key = 'between'`
    filling = fillBareNames(other!.sql)
    const waiting = () => former`select from pg_locks where not granted and relation = 'unique_keys'::regclass`
    await vi.waitFor(async () => expect(await waiting()).toHaveLength(1))
    await former`
      insert into unique_keys select kind, 'b', 'just-now', aggregate_id from unique_keys where key = 'between'
    `
  })
  await filling
  expect(await holderOf('just-now')).toBe('between-a')
})

test('names stay with their holders while they are sealed, and after it', async () => {
  await add('b', 'kept')
  await add('a', 'given')
  await add('b', 'given')
  await remove('given-a')
  await one!.sql`update sealing set phase = 'begun', wanted = true`
  // Their holders are not sealed yet.
  await add('a', 'kept')
  await add('c', 'given')
  await add('a', 'meanwhile')
  await add('b', 'meanwhile')
  const names = ['kept', 'given', 'meanwhile']
  const holders = async () => Promise.all(names.map((name) => holderOf(name)))
  expect(await holders()).toEqual(['kept-b', 'given-c', 'meanwhile-a'])
  await asBefore()
  await fillBareNames(one!.sql)
  // `given` was given up, which the events of living users do not tell.
  expect(await holders()).toEqual(['kept-b', 'given-b', 'meanwhile-a'])

  const sealings = [one!, other!].map((replica) => startSealingUsers(replica, 0))
  await vi.waitFor(() => expect([one!, other!].map(({ personal }) => personal.phase)).toEqual(['on', 'on']), 30_000)
  await Promise.all(sealings.map((sealing) => sealing.stop()))
  expect(await one!.sql`select from first_keys where left(key, 1) <> 'H'`).toHaveLength(0)
  expect(await holders()).toEqual(['kept-b', 'given-b', 'meanwhile-a'])
  await rename('kept-b', 'free')
  await add('d', 'kept')
  await asBefore()
  await fillBareNames(one!.sql)
  expect(await holders()).toEqual(['kept-a', 'given-b', 'meanwhile-a'])
})

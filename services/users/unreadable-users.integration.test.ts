import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { AccessTokenType } from '#gen/roster/users/v1/user'
import type { Sql } from '#lib/database/database'
import type { StoredEvent } from '#lib/events/stored-event'
import { tablesWith } from '#test/support/all-rows'
import { createDatabase, type TestDatabase } from '#test/support/database'
import type { Finding } from '../../operator/verify/finding.ts'
import { checkAggregates } from '../../operator/verify/check-aggregates.ts'
import { addMachineSecret } from './directory/operations/credential/add-machine-secret.ts'
import { authenticate } from './internal/authenticate.ts'
import { lookupUsers } from './internal/lookup-users.ts'
import { addHumanUser } from './directory/operations/user/add-human-user.ts'
import { addMachineUser } from './directory/operations/user/add-machine-user.ts'
import { deleteUser } from './directory/operations/user/delete-user.ts'
import { listUserChanges } from './directory/operations/find/list-user-changes.ts'
import { getUser } from './directory/operations/user/get-user.ts'
import { lockUser } from './directory/operations/user/lock-user.ts'
import { setEmail } from './directory/operations/user/set-email.ts'
import { model } from './model.ts'
import { callIn, openUsers, serveDomains, type TestUsers, signInBy } from './testing/test-users.ts'
import { hashToken } from './directory/tokens/token.ts'

let database: TestDatabase
let users: TestUsers
let domains: Awaited<ReturnType<typeof serveDomains>>
const call = (organizationId = 'acme') => callIn(organizationId)
const verified = { $case: 'isVerified' as const, value: true }

beforeAll(async () => {
  database = await createDatabase()
  domains = await serveDomains({})
  users = await openUsers(database.urls.users)
})
afterAll(async () => {
  await users?.stop()
  await domains?.stop()
  await database?.drop()
})

const addHuman = (userId: string, organizationId?: string) =>
  addHumanUser.handle(
    users,
    {
      userId,
      userName: `${userId}-name`,
      password: 'a former password',
      profile: { firstName: `${userId}-first`, lastName: 'L', preferredLanguage: '', gender: 0 },
      email: { email: `${userId}@mail.example`, verification: verified },
    },
    call(organizationId),
  )

const signIn = (userId: string) =>
  signInBy(
    users,
    { loginName: `${userId}-name`, password: 'a former password' },
    { ...call(''), clientAddress: userId },
  )

const reasonOf = (work: Promise<unknown>) =>
  work.then(
    () => 'ok',
    (error: { reason?: string }) => error.reason ?? 'INTERNAL',
  )

const faults = {
  'whose key cannot be unwrapped': (id: string) =>
    users.sql`update subject_keys set wrapped = '\\x00' where subject_id = ${id}`,
  'whose key is lost': (id: string) => users.sql`delete from subject_keys where subject_id = ${id}`,
  'with the state of another': async (id: string) => {
    await addHuman(`${id}-other`)
    await users.sql`
      update aggregates set state = (select state from aggregates where type = 'user' and id = ${`${id}-other`})
      where type = 'user' and id = ${id}
    `
  },
}

describe.each(Object.entries(faults))('a user %s', (name, happens) => {
  const id = `u${name.length}`
  const healthy = `h${name.length}`
  let token = ''

  beforeAll(async () => {
    for (const one of [id, healthy]) await addHuman(one)
    token = (await signIn(id)).sessionToken
    await happens(id)
  })

  test('hinders no one else whose call shares a load or a transaction', async () => {
    const change = (userId: string) =>
      setEmail.handle(users, { userId, email: `${userId}@new.example`, verification: verified }, call())
    const outcomes = await Promise.all([
      ...[id, healthy].map((userId) => reasonOf(getUser(users, { userId }))),
      ...[id, healthy].map((userId) => reasonOf(change(userId))),
    ])
    expect(outcomes).toEqual(['INTERNAL', 'ok', 'INTERNAL', 'ok'])
    const { users: found } = await lookupUsers(users, { userIds: [id, healthy] })
    expect(found.map(({ userId }) => userId)).toEqual([id, healthy])
  })

  test('still exists: its id stays taken, for every organization, and it is neither locked nor reported as erased', async () => {
    expect(await reasonOf(addHuman(id))).toBe('USER_ID_TAKEN')
    expect(await reasonOf(addHuman(id, 'evil'))).toBe('USER_ID_TAKEN')
    expect(await reasonOf(lockUser(users, { userId: id }, call()))).toBe('INTERNAL')
    expect(await users.sql`select from found_users where user_id = ${id}`).toHaveLength(1)
    const events = await users.personal.decryptEvents(
      users.sql,
      await users.sql<StoredEvent[]>`select * from events where aggregate_id = ${id}`,
    )
    expect(events.filter((event) => event.erased)).toEqual([])
  })

  test('cannot sign in, and its tokens are worth nothing', async () => {
    expect(await reasonOf(signIn(id))).toBe('CREDENTIALS_INVALID')
    expect(await reasonOf(authenticate(users, { tokenHash: hashToken(token) }, call()))).not.toBe('ok')
  })

  test('is named by verify, which goes on', async () => {
    const connection = { search_path: 'roster_users' }
    const sql = postgres(database.adminUrl, { max: 1, connection, onnotice: () => {} }) as unknown as Sql
    const found: Finding[] = []
    for await (const page of checkAggregates(sql, 'users', model, users.personal)) found.push(...page.found)
    await sql.end()
    expect(found.map(({ row }) => row)).toContainEqual(expect.stringContaining(id))
    expect(found.filter(({ row }) => row.includes(healthy))).toEqual([])
  })

  test('can be removed, and leaves no row', async () => {
    await deleteUser(users, { userId: id, forgetNow: false }, call())
    expect(await tablesWith(users.sql, [`${id}-name`, `${id}-first`, `${id}@mail.example`])).toEqual([])
    for (const table of ['tokens', 'passwords', 'known_addresses', 'unsent_email_codes'])
      expect(await users.sql`select from ${users.sql(table)} where user_id = ${id}`).toHaveLength(0)
    expect(await users.sql`select from unique_keys where aggregate_id = ${id}`).toHaveLength(0)
    expect(await users.sql`select from subject_keys where subject_id = ${id}`).toHaveLength(0)
    expect(await reasonOf(getUser(users, { userId: id }))).toBe('USER_NOT_FOUND')
    expect(await reasonOf(deleteUser(users, { userId: id, forgetNow: false }, call()))).toBe('USER_NOT_FOUND')
    expect(await reasonOf(addHuman(id))).toBe('USER_ID_TAKEN')
  })
})

test('a machine whose key is lost leaves no secret once it is removed', async () => {
  const accessTokenType = AccessTokenType.ACCESS_TOKEN_TYPE_BEARER
  await addMachineUser(users, { userId: 'bot', userName: 'bot', name: 'B', description: '', accessTokenType }, call())
  await addMachineSecret.handle(users, { userId: 'bot', expirationDate: undefined }, call())
  await users.sql`delete from subject_keys where subject_id = 'bot'`
  await deleteUser(users, { userId: 'bot', forgetNow: false }, call())
  expect(await users.sql`select from machine_secrets where user_id = 'bot'`).toHaveLength(0)
})

test('an event whose payload is null hinders neither the list of changes nor other events', async () => {
  await addHuman('nil')
  await setEmail.handle(users, { userId: 'nil', email: 'nil@new.example', verification: verified }, call())
  await users.sql`update events set payload = 'null' where aggregate_id = 'nil' and sequence = 2`
  const { changes } = await listUserChanges(users, { userId: 'nil', limit: 0, cursor: '' }, call())
  expect(changes.map(({ dataOmitted }) => dataOmitted)).toContain('unreadable')
  expect(changes.map(({ dataOmitted }) => dataOmitted)).toContain('')
})

import { afterAll, beforeAll, beforeEach, expect, inject, onTestFinished, test, vi } from 'vitest'
import { AccessTokenType } from '#gen/roster/users/v1/user'
import { openDatabase, type Sql } from '#lib/eventstore/database'
import { createFeed } from '#lib/eventstore/feed'
import { migrate } from '#lib/eventstore/migrate'
import { createStore } from '#lib/eventstore/store'
import { hintSubject, writeHints } from '#lib/events/hints'
import { connectNats, type Nats } from '#lib/nats'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { createHold } from '#test/support/hold'
import type { Service } from '#lib/process'
import { authenticate } from '../operations/internal/authenticate.ts'
import { addMachineSecret } from '../operations/credential/add-machine-secret.ts'
import { issueToken } from '../operations/oauth/issue-token.ts'
import { createSession } from '../operations/session/create-session.ts'
import { addHumanUser } from '../operations/user/add-human-user.ts'
import { addMachineUser } from '../operations/user/add-machine-user.ts'
import { restoreUser } from '../operations/user/restore-user.ts'
import { removedUntil } from '../states/removed-user.ts'
import { callIn, openUsers, type TestUsers } from '../test-users.ts'
import { hashToken } from '../token.ts'
import { model } from '../model.ts'
import { startFollowingOrganizations } from './follow-organizations.ts'

const soon = { timeout: 15_000, interval: 20 }
let database: TestDatabase
let users: TestUsers
let grantsSql: Sql
let nats: Nats
let followers: Service[]
let organizationId = ''
let number = 0
const slow = createHold()

beforeAll(async () => {
  database = await createDatabase()
  // A removed organization takes its users at once, whatever the delay of other removals.
  users = await openUsers(database.urls.users, { FORGET_AFTER_DAYS: '7' })
  grantsSql = openDatabase(database.urls.grants, 'grants', users.log)
  await migrate(grantsSql, new URL('../../grants/migrations/', import.meta.url), users.log)
  nats = await connectNats(inject('servers').natsUrl.users, 'users', users.log)
  const feed = createFeed({ service: 'grants', sql: grantsSql, log: users.log })
  const none = { instanceRoles: [], memberships: [], projectMemberships: [], organizationClosed: false }
  const listMemberships = async () => none
  users.grants = { ...users.grants, listMemberships, listEvents: (request) => feed({}, request) }
  followers = startFollowingOrganizations(users, nats, users.log)
})
beforeEach(() => {
  organizationId = `org-${++number}`
})
afterAll(async () => {
  await Promise.all(followers?.map((follower) => follower.stop()) ?? [])
  await nats?.connection.close()
  await grantsSql?.end()
  await users?.stop()
  await database?.drop()
})

/** Stores an event of the organization in grants' database, and tells the followers. */
async function happens(type: 'deactivated' | 'reactivated' | 'removed', sequence: number) {
  const [{ position }] = await grantsSql<[{ position: string }]>`
    insert into events
      (aggregate_type, aggregate_id, sequence, type, payload, organization_id, creator, request_id, created_at)
    values ('organization', ${organizationId}, ${sequence}, ${type}, '{}', ${organizationId}, 'boss', 'r', now())
    returning position
  `
  const event = { organization_id: organizationId, aggregate_type: 'organization', type }
  nats.connection.publish(hintSubject('grants'), writeHints([event]))
  return `grants-${position}`
}
const noted = (state: string) =>
  vi.waitFor(
    async () => expect((await users.store.load('user_organization', organizationId))?.state).toMatchObject({ state }),
    soon,
  )

const addMachine = (userId: string, context = users) =>
  addMachineUser(
    context,
    { userId, userName: userId, name: 'M', description: '', accessTokenType: AccessTokenType.ACCESS_TOKEN_TYPE_BEARER },
    callIn(organizationId),
  )
const addHuman = (userName: string) =>
  addHumanUser.handle(
    users,
    {
      userId: userName,
      userName,
      password: 'password',
      profile: { firstName: 'A', lastName: 'B', preferredLanguage: '', gender: 0 },
      email: { email: `${userName}@example.com`, verification: undefined },
    },
    callIn(organizationId),
  )
const signIn = (loginName: string, context = users) =>
  createSession(context, { loginName, password: 'password' }, { ...callIn(''), clientAddress: loginName })
const reasonOf = (work: Promise<unknown>) =>
  work.then(
    () => 'ok',
    (error: { reason: string }) => error.reason,
  )
const living = async () =>
  (
    await users.sql`
    select 1 from aggregates
    where type = 'user' and not state ? 'removed' and organization_id = ${organizationId}
  `
  ).length

test('the users of a removed organization are removed once, by events that name its removal as their cause', async () => {
  await addHuman(`${organizationId}-human`)
  const { sessionToken } = await signIn(`${organizationId}-human`)
  await Promise.all(Array.from({ length: 150 }, (_, i) => addMachine(`${organizationId}-${i}`)))
  const mine = organizationId
  organizationId = 'org-other'
  await addMachine('stays')
  organizationId = mine
  const cause = await happens('removed', 2)
  await vi.waitFor(async () => expect(await living()).toBe(0), soon)
  const events = await users.sql`
    select creator, request_id, cause, count(*)::int as number, count(distinct aggregate_id)::int as users from events
    where aggregate_type = 'user' and type = 'removed' and organization_id = ${organizationId} group by 1, 2, 3
  `
  expect(events).toEqual([{ creator: 'boss', request_id: 'r', cause, number: 151, users: 151 }])
  expect(await users.sql`select 1 from forgettings where organization_id = ${organizationId}`).toHaveLength(151)
  expect(await users.sql`select 1 from tokens where organization_id = ${organizationId}`).toHaveLength(0)
  expect(await users.sql`select 1 from unique_keys where scope = ${organizationId}`).toHaveLength(0)
  await expect(authenticate(users, { tokenHash: hashToken(sessionToken) })).rejects.toThrow('not valid')
  expect(await reasonOf(addMachine(`${organizationId}-late`))).toBe('ORGANIZATION_NOT_FOUND')
  expect(await reasonOf(addHuman(`${organizationId}-late`))).toBe('ORGANIZATION_NOT_FOUND')
  expect((await users.store.load('user', 'stays'))?.state).not.toHaveProperty('removed')
})

const removeUntilTomorrow = (userId: string) =>
  users.store.execute({
    aggregate: { type: 'user', id: userId },
    call: callIn(organizationId),
    decide: () => removedUntil(new Date(Date.now() + 86_400_000)),
  })

test('users who wait to be forgotten are forgotten with their organization, and those of others wait on', async () => {
  const ids = Array.from({ length: 160 }, (_, i) => `${organizationId}-${i}`)
  await Promise.all(ids.map((id) => addMachine(id)))
  const waiting = ids.filter((_, i) => i % 2 === 0)
  await Promise.all(waiting.map(removeUntilTomorrow))
  const mine = organizationId
  organizationId = `${mine}-other`
  const other = `other-of-${mine}`
  await addMachine(other)
  await removeUntilTomorrow(other)
  organizationId = mine
  const cause = await happens('removed', 2)
  const readable = async () =>
    (await users.sql`select subject_id from subject_keys where subject_id = any(${ids}::text[])`).length
  await vi.waitFor(async () => expect(await readable()).toBe(0), soon)
  const ends = await users.sql`
    select type, creator, cause, count(*)::int as number from events
    where organization_id = ${organizationId} and aggregate_type = 'user' and cause is not null
    group by 1, 2, 3 order by 1
  `
  expect(ends).toEqual([
    { type: 'forgotten', creator: 'boss', cause, number: 80 },
    { type: 'removed', creator: 'boss', cause, number: 80 },
  ])
  expect(await users.sql`select 1 from unique_keys where scope = ${organizationId}`).toHaveLength(0)
  expect(await users.sql`select 1 from forgettings where organization_id = ${mine} and forget_at is not null`).toEqual(
    [],
  )
  expect((await users.store.load('user', waiting[0]!))?.state).toEqual({ userName: '', removed: true })
  expect(await reasonOf(restoreUser(users, { userId: waiting[0]! }, callIn(mine)))).toBe('USER_NOT_FOUND')
  expect((await users.store.load('user', other))?.state).toHaveProperty('former')
})

test('where nothing is sealed yet, users who wait to be forgotten go with their organization, too', async () => {
  const { sql, personal } = users
  const setPhase = async (phase: typeof personal.phase) => {
    await sql`update sealing set phase = ${phase}`
    personal.phase = phase
  }
  await setPhase('off')
  onTestFinished(() => setPhase('on'))
  const userId = `${organizationId}-plain`
  await addMachine(userId)
  await removeUntilTomorrow(userId)
  const state = async () =>
    (await sql`select state from aggregates where type = 'user' and id = ${userId}`)[0]!['state']
  expect(await state()).toHaveProperty('former')
  await happens('removed', 2)
  await vi.waitFor(async () => expect(await state()).toEqual({ userName: '', removed: true }), soon)
})

test('users whom nobody can read are forgotten with their organization, also where no search finds them', async () => {
  const ids = ['lost', 'broken', 'unfound', 'waiting', 'healthy'].map((name) => `${organizationId}-${name}`)
  for (const id of ids) await addHuman(id)
  const [lost, broken, unfound, waiting] = ids
  await removeUntilTomorrow(waiting!)
  await users.sql`delete from subject_keys where subject_id in (${lost!}, ${unfound!}, ${waiting!})`
  await users.sql`update subject_keys set wrapped = '\\x00' where subject_id = ${broken!}`
  // A backup may leave these out, and they are not made again for a user whom nobody can read.
  for (const table of ['found_users', 'found_addresses'])
    await users.sql`delete from ${users.sql(table)} where user_id = ${unfound!}`
  await happens('removed', 2)
  const states = () => users.sql`select distinct state from aggregates where type = 'user' and id = any(${ids})`
  await vi.waitFor(async () => expect(await states()).toEqual([{ state: { userName: '', removed: true } }]), soon)
  for (const table of ['found_users', 'found_addresses', 'passwords', 'tokens', 'known_addresses', 'unsent_mails'])
    expect(await users.sql`select from ${users.sql(table)} where user_id = any(${ids})`, table).toHaveLength(0)
  expect(await users.sql`select from subject_keys where subject_id = any(${ids})`).toHaveLength(0)
  expect(await users.sql`select from unique_keys where scope = ${organizationId}`).toHaveLength(0)
  const done = await users.sql`select from forgettings where user_id = any(${ids}) and forget_at is null`
  expect(done).toHaveLength(ids.length)
})

test('a user who was decided before the removal and would be stored after it is refused', async () => {
  const store = createStore(slow.wrap(users.sql), model, users.log, () => {}, undefined, users)
  const { arrived, release } = slow.hold()
  const late = reasonOf(addMachine(`${organizationId}-late`, { ...users, store }))
  await arrived
  await happens('removed', 2)
  await noted('removed')
  release()
  expect(await late).toBe('ORGANIZATION_NOT_FOUND')
})

test('of users who are added beside the removal, each is refused or removed', async () => {
  let added = 0
  const addUntilRefused = async (lane: number) => {
    for (let n = 0; ; n++) {
      const reason = await reasonOf(addMachine(`${organizationId}-${lane}-${n}`))
      if (reason !== 'ok') return reason
      added++
    }
  }
  const adding = Promise.all(Array.from({ length: 8 }, (_, lane) => addUntilRefused(lane)))
  await vi.waitFor(() => expect(added).toBeGreaterThan(20), soon)
  await happens('removed', 2)
  expect(new Set(await adding)).toEqual(new Set(['ORGANIZATION_NOT_FOUND']))
  await vi.waitFor(async () => expect(await living()).toBe(0), soon)
})

test('nobody signs in to a deactivated organization, and its tokens are refused until it is active again', async () => {
  const human = `${organizationId}-human`
  const machine = `${organizationId}-machine`
  await addHuman(human)
  await addMachine(machine)
  const expirationDate = undefined
  const { clientSecret } = await addMachineSecret.handle(
    users,
    { userId: machine, expirationDate },
    callIn(organizationId),
  )
  const obtain = async () =>
    issueToken.handle(
      users,
      {
        grantType: 'client_credentials',
        clientId: machine,
        clientSecret,
        scope: '',
        assertion: '',
        clientAssertion: '',
        clientAssertionType: '',
        dpopProof: '',
      },
      callIn(''),
    )
  const tokens = [(await signIn(human)).sessionToken, (await obtain()).accessToken]
  const holders = () =>
    Promise.all(tokens.map((token) => reasonOf(authenticate(users, { tokenHash: hashToken(token) }))))
  expect(await holders()).toEqual(['ok', 'ok'])
  await happens('deactivated', 2)
  await noted('inactive')
  expect(await holders()).toEqual(['TOKEN_INVALID', 'TOKEN_INVALID'])
  expect(await reasonOf(signIn(human))).toBe('CREDENTIALS_INVALID')
  expect(await reasonOf(obtain())).toBe('INVALID_CLIENT')
  await happens('reactivated', 3)
  await noted('active')
  expect(await holders()).toEqual(['ok', 'ok'])
  expect(await reasonOf(signIn(human))).toBe('ok')
  expect(await reasonOf(obtain())).toBe('ok')
})

test('a sign-in that was decided before the deactivation and would be stored after it is refused', async () => {
  await addHuman(`${organizationId}-human`)
  const store = createStore(slow.wrap(users.sql), model, users.log, () => {}, undefined, users)
  const { arrived, release } = slow.hold()
  const late = reasonOf(signIn(`${organizationId}-human`, { ...users, store }))
  await arrived
  await happens('deactivated', 2)
  await noted('inactive')
  release()
  expect(await late).toBe('CREDENTIALS_INVALID')
})

test('an event that comes after a later one changes nothing', async () => {
  await happens('reactivated', 3)
  await noted('active')
  await happens('deactivated', 2)
  const mine = organizationId
  organizationId = `${mine}-next`
  await happens('deactivated', 2)
  await noted('inactive')
  organizationId = mine
  await noted('active')
})

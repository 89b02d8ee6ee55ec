import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { createFeed } from '#lib/eventstore/feed'
import { startTail, type Tail } from '#lib/eventstore/tail/start-tail'
import type { Aggregate } from '#lib/eventstore/aggregate'
import { connectNats, type Nats } from '#lib/nats'
import type { Service } from '#lib/process'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { startTestKeeper } from '#test/support/keeper'
import { startOwnNats } from '#test/support/publishing'
import type { Servers } from '../../../deploy/local/servers.ts'
import { addHumanUser } from '../operations/user/add-human-user.ts'
import { removedUser } from '../states/removed-user.ts'
import { callIn, openUsers, type TestUsers } from '../test-users.ts'
import type { User } from '../vocabulary/user.ts'
import { startForgetting } from './forgetting.ts'

const soon = { timeout: 20_000, interval: 20 }
let [servers, database, users]: [Servers?, TestDatabase?, TestUsers?] = []
let [nats, tail, keeper]: [Nats?, Tail?, Service?] = []

beforeAll(async () => {
  ;[servers, database] = await Promise.all([startOwnNats(), createDatabase()])
  users = await openUsers(database.urls.users)
  const none = { instanceRoles: [], memberships: [], projectMemberships: [], organizationClosed: false }
  users.grants = { ...users.grants, listMemberships: async () => none }
  nats = await connectNats(servers.natsUrl.users, 'users', users.log)
  keeper = await startTestKeeper(servers.natsUrl)
  tail = startTail({ service: 'users', sql: users.sql, nats, log: users.log, personal: users.personal })
})
afterAll(async () => {
  await tail?.stop()
  await keeper?.stop()
  await nats?.connection.close()
  await users?.stop()
  await Promise.all([database?.drop(), servers?.stop()])
})

/** Begins to clean. `hold` is waited for before each question to the keeper. Gives the users in the order of these. */
function start(hold: (userId: string, number: number) => Promise<unknown>) {
  const { sql, log, personal } = users!
  const asked: string[] = []
  const ask: Nats['ask'] = (subject, ...rest) => {
    if (!subject.startsWith('roster.stream.forget.')) return nats!.ask(subject, ...rest)
    const userId = subject.split('.').at(-1)!
    const number = asked.push(userId)
    return { answer: hold(userId, number).then(() => nats!.ask(subject, ...rest).answer), fail: () => {} }
  }
  const list = createFeed({ service: 'users', sql, log, personal })
  const started = startForgetting({ sql, log, nats: { ...nats!, ask }, feed: (request) => list({}, request) })
  onTestFinished(() => started.stop())
  return asked
}

async function add(organization: string, userId: string) {
  const email = { email: `${userId}@example.com`, verification: undefined }
  const profile = { firstName: 'A', lastName: 'B', preferredLanguage: '', gender: 0 as const }
  await addHumanUser.handle(users!, { userId, userName: userId, profile, email }, callIn(organization))
}
const remove = (organization: string, userId: string) =>
  users!.store.execute({
    aggregate: { type: 'user', id: userId },
    call: callIn(organization),
    decide: ({ state, organizationId }: Aggregate<User>) => removedUser(state!, organizationId),
  })
const published = (userId: string) =>
  vi.waitFor(async () => {
    const { count } = await users!.sql`
      select from events e, published p
      where aggregate_id = ${userId} and type = 'removed' and (e.transaction_id, e.position) <= (p.transaction_id, p.position)
    `
    expect(count).toBe(1)
  }, soon)
const cleaned = async (...ids: string[]) =>
  (await users!.sql`select from forgettings where user_id = any(${ids}) and stream_at is not null`).count
const several = (name: string, count: number) => Array.from({ length: count }, (_, index) => `${name}-${index}`)

async function removeMany(organization: string, ids: string[]) {
  for (const id of ids) await add(organization, id)
  for (const id of ids) await remove(organization, id)
  await published(ids.at(-1)!)
}

test('a user is not kept waiting by the many whom another organization removed before', async () => {
  const many = several('many', 80)
  await removeMany('large', many)
  await add('small', 'single')
  const gate = Promise.withResolvers<void>()
  const asked = start(() => gate.promise)
  await vi.waitFor(() => expect(asked.length).toBeGreaterThan(0), soon)
  await remove('small', 'single')
  await published('single')
  gate.resolve()
  await vi.waitFor(async () => expect(await cleaned('single')).toBe(1), soon)
  expect(asked.indexOf('single')).toBeLessThan(20)
  await vi.waitFor(async () => expect(await cleaned(...many)).toBe(many.length), soon)
  // One question for each user.
  expect(asked.toSorted()).toEqual([...many, 'single'].toSorted())
})

test('of more organizations than have a turn at once, each comes before a second turn of any', async () => {
  const names = several('organization', 20)
  for (const name of names) await removeMany(name, several(`of-${name}`, 6))
  const asked = start(async () => {})
  const all = names.flatMap((name) => several(`of-${name}`, 6))
  await vi.waitFor(async () => expect(await cleaned(...all)).toBe(all.length), soon)
  const firsts = names.map((name) => asked.findIndex((id) => id.startsWith(`of-${name}-`)))
  expect(Math.max(...firsts)).toBeLessThan(80)
})

test('a user whom the keeper refuses holds up nobody, and is tried again', async () => {
  const many = several('refused', 6)
  let isRefused = true
  const asked = start(async (userId) => {
    if (isRefused && userId !== 'refused-5') throw new Error('refused')
  })
  await removeMany('strange', many)
  await vi.waitFor(async () => expect(await cleaned('refused-5')).toBe(1), soon)
  const parked = () => users!.sql`select from parked_for_followers where follower = 'forgetting'`
  expect(await parked()).toHaveLength(5)
  isRefused = false
  await vi.waitFor(async () => expect(await cleaned(...many)).toBe(6), soon)
  expect(asked.filter((id) => id === 'refused-0').length).toBeGreaterThan(1)
  await vi.waitFor(async () => expect(await parked()).toHaveLength(0), soon)
})

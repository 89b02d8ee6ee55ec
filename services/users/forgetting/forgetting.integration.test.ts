import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import type { ListEventsRequest } from '#gen/roster/feed/v1/feed'
import { createFeed } from '#lib/eventstore/feed'
import { startTail, type Tail } from '#lib/eventstore/tail/start-tail'
import { stateSubject, streamName } from '#lib/events/stream'
import { connectNats, type Nats } from '#lib/nats'
import type { Service } from '#lib/process'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { startTestKeeper } from '#test/support/keeper'
import { startOwnNats } from '#test/support/publishing'
import type { Servers } from '../../../deploy/local/servers.ts'
import { addHumanUser } from '../operations/user/add-human-user.ts'
import { restoreUser } from '../operations/user/restore-user.ts'
import { setEmail } from '../operations/user/set-email.ts'
import { removedUntil, removedUser } from '../states/removed-user.ts'
import { callIn, openUsers, type TestUsers } from '../test-users.ts'
import type { User } from '../vocabulary/user.ts'
import type { Aggregate } from '#lib/eventstore/aggregate'
import { startForgettingAgain } from './forget-again.ts'
import { forgetDue } from './forget-due.ts'
import { startForgetting } from './forgetting.ts'
import { startForgettingInStatistics } from './forget-in-statistics.ts'

const soon = { timeout: 20_000, interval: 20 }
let [servers, database, users]: [Servers?, TestDatabase?, TestUsers?] = []
let nats: Nats
let admin: Nats
let tail: Tail
let keeper: Service | undefined
let running: Service[] = []
let number = 0

beforeAll(async () => {
  ;[servers, database] = await Promise.all([startOwnNats(), createDatabase()])
  users = await openUsers(database.urls.users)
  const none = { instanceRoles: [], memberships: [], projectMemberships: [], organizationClosed: false }
  users.grants = { ...users.grants, listMemberships: async () => none }
  nats = await connectNats(servers.natsUrl.users, 'users', users.log)
  admin = await connectNats(servers.natsUrl.admin, 'admin', users.log)
  tail = startTail({ service: 'users', sql: users.sql, nats, log: users.log, personal: users.personal })
})
beforeEach(async () => {
  keeper ??= await startTestKeeper(servers!.natsUrl)
  onTestFinished(async () => {
    await Promise.all(running.map((service) => service.stop()))
    running = []
  })
})
afterAll(async () => {
  await tail?.stop()
  await keeper?.stop()
  await Promise.all([nats, admin].map((each) => each?.connection.close()))
  await users?.stop()
  await Promise.all([database?.drop(), servers?.stop()])
})

const start = (through: Nats = nats, looked = () => {}) => {
  const { sql, log } = users!
  const list = createFeed({ service: 'users', sql, log, personal: users!.personal })
  const feed = async (request: ListEventsRequest) => {
    const answer = await list({}, request)
    if (answer.events.length > 0) looked()
    return answer
  }
  const started = startForgetting({ sql, log, nats: through, feed })
  running.push(started)
  return started
}

async function addHuman() {
  const name = `forgotten-${++number}`
  const { userId } = await addHumanUser.handle(
    users!,
    {
      userId: name,
      userName: name,
      profile: { firstName: 'A', lastName: 'B', preferredLanguage: '', gender: 0 },
      email: { email: `${name}@example.com`, verification: undefined },
    },
    callIn('acme'),
  )
  const email = { userId, email: `${name}@example.org`, verification: undefined }
  await setEmail.handle(users!, email, callIn('acme'))
  return userId
}
const remove = (userId: string) =>
  users!.store.execute({
    aggregate: { type: 'user', id: userId },
    call: callIn('acme'),
    decide: ({ state, organizationId }: Aggregate<User>) => removedUser(state!, organizationId),
  })
const held = async (userId: string) => {
  const manager = await admin.connection.jetstreamManager()
  const { state } = await manager.streams.info(streamName, {
    subjects_filter: `roster.events.users.acme.*.${userId}.>`,
  })
  return Object.keys(state.subjects ?? {})
}
const rowOf = async (userId: string) => {
  const [row] = await users!.sql`
    select organization_id, stream_at is not null as done, stream_events from forgettings where user_id = ${userId}
  `
  return row
}
const published = (userId: string) =>
  vi.waitFor(async () => expect(await held(userId)).toContain(`roster.events.users.acme.user.${userId}.removed`), soon)
const done = (userId: string) => vi.waitFor(async () => expect(await rowOf(userId)).toMatchObject({ done: true }), soon)
const onlyTheEnd = (userId: string) => [`roster.events.users.acme.user.${userId}.removed`]

test('of a removed user the stream keeps the removal alone, and the row says so', async () => {
  start()
  const [userId, other] = [await addHuman(), await addHuman()]
  await remove(userId)
  await done(userId)
  expect(await held(userId)).toEqual(onlyTheEnd(userId))
  expect((await rowOf(userId))!['stream_events']).toBeGreaterThan(1)
  expect((await held(other)).length).toBeGreaterThan(1)
  expect(await rowOf(other)).toBeUndefined()
})

test('the row is there since the removal, and waits until the keeper of the stream comes back', async () => {
  const userId = await addHuman()
  await keeper!.stop()
  keeper = undefined
  start()
  await remove(userId)
  expect(await rowOf(userId)).toMatchObject({ organization_id: 'acme', done: false })
  keeper = await startTestKeeper(servers!.natsUrl)
  await done(userId)
  expect(await held(userId)).toEqual(onlyTheEnd(userId))
})

test.each([0, 1, 2, 3])('another replica goes on where one was lost after step %i', async (steps) => {
  const userId = await addHuman()
  let asked = 0
  const lost = Promise.withResolvers<void>()
  const ask: Nats['ask'] = (subject, ...rest) => {
    if (!subject.startsWith('roster.stream.forget.')) return nats.ask(subject, ...rest)
    if (asked++ < steps) return nats.ask(subject, ...rest)
    lost.resolve()
    return { answer: new Promise(() => {}), fail: () => {} }
  }
  // It is lost for good, so nobody waits for its end.
  start({ ...nats, ask })
  running = []
  await remove(userId)
  await lost.promise
  expect(await rowOf(userId)).toMatchObject({ done: false })
  start()
  await done(userId)
  expect(await held(userId)).toEqual(onlyTheEnd(userId))
})

test('a user who was removed by a replica of an earlier version is no exception', async () => {
  const userId = await addHuman()
  await remove(userId)
  await users!.sql`delete from forgettings where user_id = ${userId}`
  await published(userId)
  start()
  await done(userId)
  expect(await held(userId)).toEqual(onlyTheEnd(userId))
})

test('nothing is asked for before the removal is published', async () => {
  const userId = await addHuman()
  await tail.stop()
  let looks = 0
  let asked = false
  const ask: Nats['ask'] = (subject, ...rest) => {
    asked ||= subject.startsWith('roster.stream.forget.')
    return nats.ask(subject, ...rest)
  }
  await remove(userId)
  start({ ...nats, ask }, () => looks++)
  // It looks again once it could do nothing.
  await vi.waitFor(() => expect(looks).toBe(2), soon)
  expect(asked).toBe(false)
  tail = startTail({ service: 'users', sql: users!.sql, nats, log: users!.log, personal: users!.personal })
  await done(userId)
  expect(await held(userId)).toEqual(onlyTheEnd(userId))
  const [row] = await users!.sql<[{ generation: number }]>`select generation from published`
  expect(row.generation).toBe(0)
})

describe('a removal that can be undone', () => {
  const later = new Date(Date.now() + 2 * 86_400_000)
  const removeFor = (userId: string, forgetAt: Date) =>
    users!.store.execute({
      aggregate: { type: 'user', id: userId },
      call: callIn('acme'),
      decide: () => removedUntil(forgetAt),
    })
  const tomorrow = () => new Date(Date.now() + 86_400_000)
  const claimed = async (userId: string) => (await users!.sql`select 1 from unique_keys where aggregate_id = ${userId}`).length // prettier-ignore
  const keys = async (userId: string) => (await users!.sql`select 1 from subject_keys where subject_id = ${userId}`).length // prettier-ignore
  const stateOf = async (userId: string) => (await users!.store.load<User>('user', userId))!.state

  test('forgets the user once its time is over, once, and by an event that names the removal', async () => {
    start()
    const userId = await addHuman()
    await removeFor(userId, tomorrow())
    await published(userId)
    await forgetDue(users!, new Date())
    expect(await keys(userId)).toBe(1)
    expect(await claimed(userId)).toBe(1)
    expect(await rowOf(userId)).toMatchObject({ done: false })
    await Promise.all([forgetDue(users!, later), forgetDue(users!, later)])
    expect(await keys(userId)).toBe(0)
    expect(await stateOf(userId)).toEqual({ userName: '', removed: true })
    expect(await claimed(userId)).toBe(0)
    const ends = await users!.sql`
      select type, creator, cause = (select 'users-' || position from events where aggregate_id = ${userId} and type = 'removed') as caused
      from events where aggregate_id = ${userId} and type = 'forgotten'
    `
    expect(ends).toEqual([{ type: 'forgotten', creator: '', caused: true }])
    await done(userId)
    expect(await held(userId)).toEqual([`roster.events.users.acme.user.${userId}.forgotten`])
    await expect(restoreUser(users!, { userId }, callIn('acme'))).rejects.toThrow('no such user')
  })

  test('leaves no trace of the removal once it was undone', async () => {
    const userId = await addHuman()
    const before = await stateOf(userId)
    const found = () => users!.sql`select * from found_users join found_addresses using (user_id) where user_id = ${userId}` // prettier-ignore
    const [row] = await found()
    await removeFor(userId, tomorrow())
    expect(await found()).toHaveLength(0)
    await restoreUser(users!, { userId }, callIn('acme'))
    expect(await stateOf(userId)).toEqual(before)
    expect(await found()).toEqual([row])
    expect(await rowOf(userId)).toBeUndefined()
    await forgetDue(users!, later)
    expect(await stateOf(userId)).toEqual(before)
  })

  test.each([
    ['is lost', (userId: string) => users!.sql`delete from subject_keys where subject_id = ${userId}`],
    [
      'is broken',
      (userId: string) => users!.sql`update subject_keys set wrapped = '\\x00' where subject_id = ${userId}`,
    ],
  ])('forgets a user whose key %s, too, and hinders no other', async (_, happens) => {
    const [userId, other] = [await addHuman(), await addHuman()]
    for (const id of [userId, other]) await removeFor(id, tomorrow())
    await happens(userId)
    await forgetDue(users!, later)
    for (const id of [userId, other]) {
      expect(await keys(id)).toBe(0)
      expect(await claimed(id)).toBe(0)
      expect(await stateOf(id)).toEqual({ userName: '', removed: true })
    }
    expect(await users!.sql`select user_id from forgettings where forget_at <= ${later}`).toEqual([])
  })

  test('is undone or forgotten, never both', async () => {
    const userId = await addHuman()
    await removeFor(userId, tomorrow())
    const [undone] = await Promise.allSettled([
      restoreUser(users!, { userId }, callIn('acme')),
      forgetDue(users!, later),
    ])
    expect(await stateOf(userId)).toMatchObject(undone.status === 'fulfilled' ? { human: {} } : { removed: true })
  })
})

test('PostgreSQL’s own samples of names and addresses are made anew after a removal', async () => {
  const [userId, other] = [await addHuman(), await addHuman()]
  const { sql, log } = users!
  const samples = async () =>
    JSON.stringify(
      await sql`
        select most_common_vals::text, histogram_bounds::text from pg_stats
        where schemaname = current_schema() and tablename in ('found_users', 'found_addresses')
      `,
    )
  await sql`analyze found_users, found_addresses`
  expect(await samples()).toContain(`${userId}@example.org`)
  await remove(userId)
  running.push(startForgettingInStatistics({ sql, log, every: 50 }))
  await vi.waitFor(async () => expect(await samples()).not.toContain(userId), soon)
  expect(await samples()).toContain(other)
  await vi.waitFor(async () => {
    const [row] = await sql`select statistics_at is not null as done from forgettings where user_id = ${userId}`
    expect(row).toEqual({ done: true })
  }, soon)
})

describe('a stream that was lost, or set back to an older copy', () => {
  const again = (through: Nats = nats) =>
    running.push(startForgettingAgain({ sql: users!.sql, log: users!.log, nats: through, every: 100 }))
  const generation = async () => {
    const [row] = await users!.sql<[{ generation: number }]>`select generation from published`
    return row.generation
  }
  const allPublished = () =>
    vi.waitFor(async () => {
      const [row] = await users!
        .sql`select exists (select from events where position > (select position from published))`
      expect(row).toEqual({ exists: false })
    }, soon)
  async function removedOne() {
    start()
    const userId = await addHuman()
    await remove(userId)
    await done(userId)
    return userId
  }
  async function textsOf(userId: string) {
    const { streams } = await admin.connection.jetstreamManager()
    const { state } = await streams.info(streamName)
    const texts: string[] = []
    for (let seq = state.first_seq; seq <= state.last_seq; seq++) {
      const message = await streams.getMessage(streamName, { seq }).catch(() => undefined)
      if (message?.subject.includes(`.${userId}.`)) texts.push(message.string())
    }
    return texts
  }
  const onlyTheEndOf = (userId: string) =>
    vi.waitFor(async () => expect(await held(userId)).toEqual(onlyTheEnd(userId)), soon)
  const told = (userId: string) => `roster.events.users.acme.user.${userId}.human.added`

  test('gets nothing personal of a removed user again, and soon nothing but the removal', async () => {
    const userId = await removedOne()
    const before = await generation()
    const { streams } = await admin.connection.jetstreamManager()
    await streams.delete(streamName)
    await vi.waitFor(async () => expect(await generation()).toBe(before + 1), soon)
    await allPublished()
    expect(await held(userId)).toContain(told(userId))
    expect((await textsOf(userId)).join()).not.toMatch(/@example|firstName|userName/)
    again()
    await onlyTheEndOf(userId)
  })

  test('loses what the copy has of a removed user', async () => {
    const userId = await removedOne()
    await admin.connection.jetstream().publish(told(userId), `{"email":"${userId}@example.com"}`)
    await users!.sql`update published set stream_created = ''`
    again()
    await onlyTheEndOf(userId)
    expect((await textsOf(userId)).join()).not.toContain('@example')
  })

  test('is cleaned once the removal is published again, by another replica where one was lost', async () => {
    const userId = await removedOne()
    await tail.stop()
    await users!.sql`update published set generation = generation + 1, transaction_id = '0', position = 0`
    let [asked, looks] = [0, 0]
    const lost = Promise.withResolvers<void>()
    const ask: Nats['ask'] = (subject, ...rest) => {
      if (subject === stateSubject) looks++
      if (subject.startsWith('roster.stream.forget.') && subject.endsWith(`.${userId}`) && asked++ > 0) {
        lost.resolve()
        return { answer: new Promise(() => {}), fail: () => {} }
      }
      return nats.ask(subject, ...rest)
    }
    again({ ...nats, ask })
    running.pop()
    await vi.waitFor(() => expect(looks).toBeGreaterThan(2), soon)
    expect(asked).toBe(0)
    tail = startTail({ service: 'users', sql: users!.sql, nats, log: users!.log, personal: users!.personal })
    await lost.promise
    await allPublished()
    again()
    await onlyTheEndOf(userId)
  })
})

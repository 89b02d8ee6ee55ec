import type { JetStreamManager } from 'nats'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { Servers } from '../../deploy/local/servers.ts'
import { silent } from '#test/support/counters'
import { startOwnNats } from '#test/support/publishing'
import { connectNats, type Nats } from '../nats/connect-nats.ts'
import type { PublishedEvent } from '../events/cloud-event.ts'
import { consume } from './consume.ts'
import { publish, subjectOf } from '../outbox/publish.ts'
import type { StoredEvent } from '../events/stored-event.ts'
import { streamName } from '../events/stream.ts'
import { ensureConsumer, ensureStream } from '../outbox/stream-keeper.ts'
import { testMessages } from '#test/support/event-messages'

let servers: Servers
let [users, notifier, other, admin]: Nats[] = []
let manager: JetStreamManager

beforeAll(async () => {
  servers = await startOwnNats()
  const { natsUrl } = servers
  ;[users, notifier, other, admin] = await Promise.all([
    connectNats(natsUrl.users, 'users', silent),
    connectNats(natsUrl.admin, 'admin', silent),
    connectNats(natsUrl.admin, 'admin', silent),
    connectNats(natsUrl.admin, 'admin', silent),
  ])
  manager = await admin.connection.jetstreamManager()
  await ensureStream(manager)
})

afterAll(async () => {
  await Promise.all([users, notifier, other, admin].map(async (nats) => nats?.connection.close()))
  await servers?.stop()
})

let position = 0

function event(type: string, aggregate = 'arthur', payload: object = {}): StoredEvent {
  return {
    position: String(++position),
    transaction_id: '1',
    aggregate_type: 'user',
    aggregate_id: aggregate,
    sequence: '1',
    type,
    payload,
    organization_id: 'house',
    creator: '',
    request_id: '',
    created_at: new Date(),
  }
}

const messages = testMessages({
  UserEarly: [],
  UserUnwanted: [],
  UserHard: ['n'],
  UserShared: [],
  UserBrief: [],
  UserLong: [],
  UserLost: [],
  UserKilled: [],
  UserOld: [],
})
async function put(...events: StoredEvent[]): Promise<void> {
  const outcomes = await publish(users!, events, { service: 'users', key: 'of users', messages })
  for (const outcome of outcomes) if (!('ack' in outcome)) throw Object.values(outcome)[0]
}
const filterOf = (type: string) => `roster.events.users.*.user.*.${type}`

async function start(type: string, handle: (event: PublishedEvent) => Promise<void>, nats = notifier!) {
  await ensureConsumer(manager, `test-${type}`, filterOf(type))
  return consume({ nats, log: silent, durable: `test-${type}`, handle })
}

// The server counts an answer a moment after it was given.
const noneIsLeft = (consumer: string) =>
  expect.poll(async () => (await manager.consumers.info(streamName, consumer)).num_ack_pending).toBe(0)

test('an event is found by service, organization, aggregate and type', () => {
  expect(subjectOf('users', event('email.code.requested'))).toBe(
    'roster.events.users.house.user.arthur.email.code.requested',
  )
})

test('events that were there before the consumer come too, others do not', async () => {
  await put(event('early'), event('unwanted'), event('early'))
  const seen: string[] = []
  const consumer = await start('early', async ({ type }) => void seen.push(type))
  await put(event('early'))
  const early = 'roster.user.early.v1'
  await vi.waitFor(() => expect(seen).toEqual([early, early, early]), { timeout: 5000 })
  await consumer.stop()
})

test('an event whose work failed comes again, and one whose work was done does not', async () => {
  const seen: unknown[] = []
  const work = async ({ data }: PublishedEvent) => {
    seen.push(data)
    if (seen.length === 1) throw new Error('not this time')
  }
  const consumer = await start('hard', work)
  await put(event('hard', 'arthur', { n: '1' }), event('hard', 'kay', { n: '2' }))
  await vi.waitFor(() => expect(seen).toHaveLength(3), { timeout: 10_000 })
  expect(seen.filter((data) => JSON.stringify(data) === '{"n":"1"}')).toHaveLength(2)
  await consumer.stop()
  await noneIsLeft('test-hard')
})

test('a message that is no event is passed over', async () => {
  const seen: string[] = []
  const subject = subjectOf('users', event('old'))
  await users!.connection.jetstream().publish(subject, JSON.stringify({ id: 'users-1', type: 'old' }))
  await put(event('old'))
  const consumer = await start('old', async ({ id }) => void seen.push(id))
  await vi.waitFor(() => expect(seen).toEqual([`users-${position}`]), { timeout: 5000 })
  await consumer.stop()
  await noneIsLeft('test-old')
})

test('two replicas share the events: each is worked on once', async () => {
  const seen: string[] = []
  const consumers = await Promise.all(
    [notifier!, other!].map((nats) => start('shared', async ({ id }) => void seen.push(id), nats)),
  )
  const events = Array.from({ length: 200 }, (_, i) => event('shared', `user-${i}`))
  await put(...events)
  await vi.waitFor(() => expect(seen).toHaveLength(200), { timeout: 10_000 })
  expect(new Set(seen).size).toBe(200)
  await Promise.all(consumers.map((consumer) => consumer.stop()))
})

describe('stop', () => {
  test('ends a consumer that has hardly begun', async () => {
    for (let ticks = 0; ticks < 20; ticks++) {
      const consumer = await start('brief', async () => {})
      for (let i = 0; i < ticks; i++) await new Promise((resolve) => setImmediate(resolve))
      await consumer.stop()
    }
  })

  test('waits for the work under way', async () => {
    const begun = Promise.withResolvers<void>()
    const finish = Promise.withResolvers<void>()
    const consumer = await start('long', () => (begun.resolve(), finish.promise))
    await put(event('long'))
    await begun.promise
    let stopped = false
    const stopping = consumer.stop().then(() => (stopped = true))
    await notifier!.connection.flush()
    expect(stopped).toBe(false)
    finish.resolve()
    await stopping
  })
})

describe('a consumer goes on', () => {
  test('after the stream was deleted and made again', async () => {
    const seen: string[] = []
    const consumer = await start('lost', async ({ id }) => void seen.push(id))
    await put(event('lost'))
    await vi.waitFor(() => expect(seen).toHaveLength(1), { timeout: 5000 })
    await manager.streams.delete(streamName)
    await ensureStream(manager)
    await ensureConsumer(manager, 'test-lost', filterOf('lost'))
    await put(event('lost'))
    await vi.waitFor(() => expect(seen).toHaveLength(2), { timeout: 25_000 })
    await consumer.stop()
  })

  test('after NATS was killed', async () => {
    const seen: string[] = []
    const consumer = await start('killed', async ({ id }) => void seen.push(id))
    await put(event('killed'))
    await vi.waitFor(() => expect(seen).toHaveLength(1), { timeout: 5000 })
    await servers.nats!.kill()
    await servers.nats!.start()
    await vi.waitFor(() => put(event('killed')), { timeout: 15_000 })
    await vi.waitFor(() => expect(new Set(seen).size).toBeGreaterThan(1), { timeout: 25_000 })
    await consumer.stop()
  })
})

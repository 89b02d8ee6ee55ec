import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { add, openReplica, type Replica, silent } from '#test/support/counters'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { testMessages } from '#test/support/event-messages'
import { startForeignConsumer } from '#test/support/foreign-consumer'
import { startTestKeeper } from '#test/support/keeper'
import { readStream, startOwnNats } from '#test/support/publishing'
import { copyStream } from '#test/support/set-back'
import type { Servers } from '../../deploy/local/servers.ts'
import { streamName } from '../events/stream.ts'
import { connectNats, type Nats } from '../nats/connect-nats.ts'
import type { Service } from '../process.ts'
import { startOutbox, type Outbox } from './start-outbox.ts'

const names = ['users', 'grants'] as const
type Name = (typeof names)[number]
const soon = { timeout: 20_000, interval: 20 }
const messages = testMessages({ CounterAdded: ['name'] })

let [servers, database]: [Servers?, TestDatabase?] = []
let admin: Nats
let keeper: Service
const replicas = {} as Record<Name, Replica>
const outboxes: Partial<Record<Name, { outbox: Outbox; nats: Nats }>> = {}
let number = 0

beforeAll(async () => {
  ;[servers, database] = await Promise.all([startOwnNats(), createDatabase()])
  for (const name of names) replicas[name] = await openReplica(database.urls[name])
  admin = await connectNats(servers.natsUrl.admin, 'admin', silent)
  keeper = await startTestKeeper(servers.natsUrl)
})
beforeEach(async () => {
  await start('users')
  await start('grants')
  onTestFinished(async () => void (await Promise.all(names.map(end))))
})
afterAll(async () => {
  await keeper?.stop()
  await admin?.connection.close()
  await Promise.all(names.map((name) => replicas[name]?.stop()))
  await Promise.all([database?.drop(), servers?.stop()])
})

async function start(name: Name) {
  if (outboxes[name]) return
  const nats = await connectNats(servers!.natsUrl[name], name, silent)
  const outbox = startOutbox({ service: name, sql: replicas[name].sql, nats, log: silent, messages })
  outboxes[name] = { outbox, nats }
}

async function end(name: Name) {
  const { outbox, nats } = outboxes[name] ?? {}
  delete outboxes[name]
  await outbox?.stop()
  await nats?.connection.close()
}

const publishedOf = async (name: Name) => {
  const [row] = await replicas[name].sql<{ generation: number; sequence: number; mark: unknown }[]>`
    select generation, stream_sequence::int as sequence, stream_mark as mark from published
  `
  return row!
}
const generation = async (name: Name) => (await publishedOf(name)).generation
const anew = (name: Name, before: number) =>
  vi.waitFor(async () => expect(await generation(name)).toBe(before + 1), soon)

async function addSome(name: Name, some = 3) {
  for (let i = 0; i < some; i++) await replicas[name].store.execute(add(`c${++number}`, `c${number}`))
}

/** Waits until the stream has every event of the service, and the outbox has stored that it has. */
async function everythingIsThere(...some: Name[]) {
  for (const name of some)
    await vi.waitFor(async () => {
      const rows = await replicas[name].sql<{ id: string }[]>`select ${name} || '-' || position as id from events`
      const ids = new Set((await readStream(admin)).map(({ id }) => id))
      expect(rows.filter(({ id }) => !ids.has(id))).toEqual([])
      const behind = await replicas[name].sql`select from events where position > (select position from published)`
      expect(behind).toHaveLength(0)
    }, soon)
}

describe('of two services that lost events to an older copy of the stream, each publishes its own anew,', () => {
  test.each([
    ['users', 'grants'],
    ['grants', 'users'],
  ] as const)('%s first, though that fills the places of %s', async (first, second) => {
    await addSome('users')
    await addSome('grants')
    await everythingIsThere('users', 'grants')
    const setBack = await copyStream(servers!)
    // The first one's own copies alone lift the stream above the mark of the second one.
    await addSome(second)
    await everythingIsThere(second)
    await addSome(first, 8)
    await everythingIsThere('users', 'grants')
    const before = { users: await generation('users'), grants: await generation('grants') }
    const { sequence } = await publishedOf(second)
    await end(second)
    await setBack()
    await anew(first, before[first])
    await everythingIsThere(first)
    const { streams } = await admin.connection.jetstreamManager()
    expect((await streams.info(streamName)).state.last_seq).toBeGreaterThan(sequence)
    await start(second)
    await anew(second, before[second])
    await everythingIsThere('users', 'grants')
    expect({ users: await generation('users'), grants: await generation('grants') }).toEqual({
      users: before.users + 1,
      grants: before.grants + 1,
    })
  })
})

test('a consumer that has read the lost end of the stream still gets what comes after it', async () => {
  await addSome('grants')
  await everythingIsThere('grants')
  const foreign = await startForeignConsumer(servers!.natsUrl.admin, 'foreign')
  onTestFinished(foreign.stop)
  // Consumers keep their places, as nats-server flushes those apart.
  const loseEnd = await copyStream(servers!, 'ROSTER/streams/roster-events/msgs')
  await addSome('users', 8)
  const comes = (name: Name) =>
    vi.waitFor(async () => {
      const rows = await replicas[name].sql<{ id: string }[]>`select ${name} || '-' || position as id from events`
      expect(rows.filter(({ id }) => !foreign.seen.has(id))).toEqual([])
    }, soon)
  await comes('users')
  // It would publish again, and so lift the stream above what the consumer has read.
  await end('users')
  await loseEnd()
  await addSome('grants')
  await comes('grants')
})

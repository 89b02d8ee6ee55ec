import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { headers, type JetStreamManager } from 'nats'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { openHome } from '../../deploy/local/home.ts'
import { startNats } from '../../deploy/local/servers/nats-server.ts'
import { freePort } from '../../deploy/local/ports.ts'
import type { Servers } from '../../deploy/local/servers.ts'
import { startOwnNats } from '#test/support/publishing'
import { connectNats, type Nats } from '../nats/connect-nats.ts'
import type { Service } from '../process.ts'
import { silent } from '#test/support/rpc'
import { consume } from '../subscriptions/consume.ts'
import { checkpointSubject } from '../events/checkpoint-subject.ts'
import { consumers } from '../events/consumers.ts'
import { ensureConsumer } from './stream-keeper.ts'
import { streamName, streamState } from '../events/stream.ts'
import { startTestKeeper } from '#test/support/keeper'

let servers: Servers
let keepers: Service[]
let [users, admin]: Nats[] = []
let manager: JetStreamManager

beforeAll(async () => {
  servers = await startOwnNats()
  keepers = await Promise.all([startTestKeeper(servers.natsUrl), startTestKeeper(servers.natsUrl)])
  ;[users, admin] = await Promise.all([
    connectNats(servers.natsUrl.users, 'users', silent),
    connectNats(servers.natsUrl.admin, 'admin', silent),
  ])
  manager = await admin.connection.jetstreamManager()
})
afterAll(async () => {
  await Promise.all(keepers.map((keeper) => keeper.stop()))
  await Promise.all([users, admin].map(async (nats) => nats?.connection.close()))
  await servers?.stop()
})

const made = async () => (await manager.consumers.list(streamName).next()).map(({ name }) => name).toSorted()
const soon = { timeout: 15_000 }
const publish = () => users!.connection.jetstream().publish('roster.events.users.acme.user.u.added', '')

describe('the keepers create', () => {
  test('the stream and its consumers, for any caller', async () => {
    expect(await streamState(users!)).toMatchObject({ first: 0, last: 0, bounded: false })
    expect(await made()).toEqual(Object.keys(consumers))
  })

  test('both again after the stream was deleted, with or without a question', async () => {
    const { created } = await streamState(users!)
    await manager.streams.delete(streamName)
    expect((await vi.waitFor(() => streamState(users!), soon)).created).not.toBe(created)
    expect(await made()).toEqual(Object.keys(consumers))
    await manager.streams.delete(streamName)
    await vi.waitFor(async () => expect(await made()).toEqual(Object.keys(consumers)), soon)
  })

  test('a stream that stores events, even while nats-server still removes the old one', async () => {
    for (let round = 0; round < 2; round++) {
      // The more nats-server has to remove, the longer it takes.
      const names = Array.from({ length: 200 }, (_, n) => `more-${n}`)
      await Promise.all(names.map((name) => ensureConsumer(manager, name, 'roster.events.>')))
      const over = new AbortController()
      const asking = (async () => {
        while (!over.signal.aborted) await streamState(users!).catch(() => {})
      })()
      await manager.streams.delete(streamName)
      await vi.waitFor(() => streamState(users!), soon)
      over.abort()
      await asking
      await vi.waitFor(publish, soon)
    }
  })

  test('the files of a stream that lost them to such a removal before it had an event', async () => {
    await manager.streams.delete(streamName)
    const { created } = await vi.waitFor(() => streamState(users!), soon)
    const folder = join(servers.home.dir, 'nats/jetstream/ROSTER/streams', streamName)
    // NATS may write there meanwhile.
    await rm(folder, { recursive: true, maxRetries: 10 })
    const files = () => ['meta.inf', 'msgs'].filter((name) => existsSync(join(folder, name)))
    await vi.waitFor(() => expect(files()).toHaveLength(2), soon)
    await publish()
    await servers.nats!.kill()
    await servers.nats!.start()
    expect(await vi.waitFor(() => streamState(users!), soon)).toMatchObject({ created })
    // This connection is back, too.
    await vi.waitFor(() => manager.streams.info(streamName), soon)
  })

  test('a deleted consumer again', async () => {
    await manager.consumers.delete(streamName, 'notifier')
    await vi.waitFor(async () => expect(await made()).toEqual(Object.keys(consumers)), soon)
  })
})

test('each answer is newer than its question, however many ask', async () => {
  const others = await connectNats(servers.natsUrl.grants, 'grants', silent)
  const over = new AbortController()
  const asking = Array.from({ length: 4 }, async () => {
    while (!over.signal.aborted) await streamState(others)
  })
  for (let i = 0; i < 200; i++) {
    const { seq } = await publish()
    expect((await streamState(users!)).last).toBeGreaterThanOrEqual(seq)
  }
  over.abort()
  await Promise.all(asking)
  await others.connection.close()
})

test('the last event of a service is found before its checkpoint, however many of others came in between', async () => {
  const stream = admin!.connection.jetstream()
  const own = await stream.publish('roster.events.grants.acme.project.p.added', '', { headers: withId('grants-1') })
  await stream.publish('roster.events.users.acme.user.u.added', '')
  const others = Array.from({ length: 3000 }, () => stream.publish('roster.events.users.acme.user.u.changed', ''))
  const { seq } = (await Promise.all(others))[1500]!
  await manager.streams.deleteMessage(streamName, seq)
  expect((await streamState(users!, 'grants')).own).toEqual({ sequence: own.seq, id: 'grants-1' })
  for (let n = 0; n < 3; n++) await stream.publish(checkpointSubject('grants'), '')
  expect((await streamState(users!, 'grants')).own).toEqual({ sequence: own.seq, id: 'grants-1' })
  await stream.publish(checkpointSubject('idp'), '')
  expect((await streamState(users!, 'idp')).own).toBeNull()
})

function withId(id: string) {
  const all = headers()
  all.set('ce-id', id)
  return all
}

test('without a keeper, the state is an error, soon', async () => {
  await Promise.all(keepers.splice(0).map((keeper) => keeper.stop()))
  await expect(streamState(users!)).rejects.toThrow(/TIMEOUT|503/)
  keepers.push(await startTestKeeper(servers.natsUrl))
  expect(await streamState(users!)).toMatchObject({ first: expect.any(Number) })
})

test('the keeper and the consumers also work where NATS has one account for all', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'roster-one-account-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const config = join(folder, 'nats.conf')
  writeFileSync(config, 'jetstream: enabled')
  const { urls, server } = await startNats(openHome(folder), { port: await freePort(0), say: () => {}, config })
  onTestFinished(() => server.stop())
  const url = urls.users.replace(/\/\/.*@/, '//')
  const keeper = await startTestKeeper({ keeper: url })
  const nats = await connectNats(url, 'grants', silent)
  onTestFinished(async () => {
    await keeper.stop()
    await nats.connection.close()
  })
  expect(await streamState(nats)).toMatchObject({ last: 0 })
  const reader = consume({ nats, log: silent, durable: 'notifier', handle: async () => {} })
  await nats.connection.jetstream().publish('roster.events.users.acme.user.u.email.code.requested', '{}')
  // A consumer drops a message that is no event, so it counts as handled.
  const consumer = await nats.connection.jetstream().consumers.get(streamName, 'notifier')
  await vi.waitFor(async () => expect(await consumer.info()).toMatchObject({ ack_floor: { stream_seq: 1 } }), soon)
  await reader.stop()
})

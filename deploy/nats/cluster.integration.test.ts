import type { JetStreamManager } from 'nats'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { ensureStream, type KeeperOptions, startStreamKeeper } from '#lib/outbox/stream-keeper'
import { streamName } from '#lib/events/stream'
import { isOlder } from '#lib/health/old-server'
import { connectNats, type Nats } from '#lib/nats/connect-nats'
import { type NatsCluster, startNatsCluster } from '#test/support/nats-cluster'
import { startOwnNats } from '#test/support/publishing'
import { keepingLog, silent } from '#test/support/rpc'

let cluster: NatsCluster
let [users, admin]: Nats[] = []
let manager: JetStreamManager

beforeAll(async () => {
  cluster = await startNatsCluster()
  users = await connectNats(cluster.natsUrl.users, 'users', silent)
  admin = await connectNats(cluster.natsUrl.admin, 'admin', silent)
  manager = await admin.connection.jetstreamManager({ checkAPI: false })
}, 120_000)
afterAll(async () => {
  await Promise.all([users, admin].map(async (nats) => nats?.connection.close()))
  await cluster?.stop()
})

const soon = { timeout: 60_000, interval: 200 }
const info = () => manager.streams.info(streamName)
const publish = (id: string) =>
  users!.connection.jetstream().publish('roster.events.users.acme.user.u.added', id, { msgID: id, timeout: 2000 })

async function keep(natsUrl: { keeper: string }, wanted: Pick<KeeperOptions, 'replicas' | 'compression'> = {}) {
  const { log, lines } = keepingLog()
  const nats = await connectNats(natsUrl.keeper, 'keeper', silent)
  const keeper = startStreamKeeper({ nats, log, ...wanted })
  onTestFinished(async () => {
    await keeper.stop()
    await nats.connection.close()
  })
  return lines
}

describe('a cluster of three servers', () => {
  test('holds the stream once where nothing is set, three times where that is set later, and nothing else changes', async () => {
    await keep(cluster.natsUrl)
    await vi.waitFor(async () => expect((await info()).config.num_replicas).toBe(1), soon)
    await vi.waitFor(() => publish('first'), soon)
    const { config, created } = await info()
    const lines = await keep(cluster.natsUrl, { replicas: 3 })
    await vi.waitFor(
      async () => expect((await info()).cluster?.replicas?.filter(({ current }) => current)).toHaveLength(2),
      soon,
    )
    const later = await info()
    expect(later).toMatchObject({ created, state: { messages: 1 }, config: { ...config, num_replicas: 3 } })
    const copies = async () => (await manager.consumers.info(streamName, 'notifier')).cluster?.replicas
    await vi.waitFor(async () => expect(await copies()).toHaveLength(2), soon)
    expect(lines.join('')).toBe('')
  }, 150_000)

  test('keeps three copies that are there where nothing is set, takes events after its leader was killed, and lets services start', async () => {
    await keep(cluster.natsUrl)
    const { cluster: before } = await info()
    const leader = cluster.servers[Number(before!.leader!.replace('nats', ''))]!
    await leader.kill()
    await vi.waitFor(() => publish('second'), soon)
    expect(await info()).toMatchObject({ state: { messages: 2 }, config: { num_replicas: 3 } })
    const started = await connectNats(cluster.natsUrl.grants, 'grants', silent)
    await started.connection.close()
    await leader.start()
    await vi.waitFor(
      async () => expect((await info()).cluster?.replicas?.filter(({ current }) => current)).toHaveLength(2),
      soon,
    )
  }, 150_000)
})

test('a server that hangs gets no more requests, and who was connected to it answers by another', async () => {
  const own = await startNatsCluster()
  onTestFinished(() => own.stop())
  const service = await connectNats(own.natsUrl.users, 'users', silent)
  const subject = 'roster.users.v1.UserService.GetUser'
  service.connection.subscribe(subject, { queue: 'users', callback: (_, message) => void message.respond('yes') })
  const { port } = new URL(`nats://${service.connection.getServer()}`)
  const hung = own.servers[own.ports.indexOf(Number(port))]!
  const url = own.natsUrl.gateway.replace(/127\.0\.0\.1:\d+/g, (host) =>
    host.endsWith(`:${port}`) ? '127.0.0.1:1' : host,
  )
  const gateway = await connectNats(url, 'gateway', silent)
  onTestFinished(() => Promise.all([service, gateway].map(({ connection }) => connection.close())).then(() => {}))
  const ask = () => gateway.ask(subject, '', { timeout: 500 }).answer
  await vi.waitFor(ask, soon)
  await hung.kill('SIGSTOP')
  // Ten in a row: the route to the hung server would take every other one.
  await vi.waitFor(async () => void (await Promise.all(Array.from({ length: 10 }, ask))), {
    timeout: 30_000,
    interval: 500,
  })
}, 90_000)

test('where one server is no cluster, the log says which setting cannot be, and the stream stays', async () => {
  const servers = await startOwnNats()
  onTestFinished(() => servers.stop())
  await keep(servers.natsUrl)
  const own = await connectNats(servers.natsUrl.admin, 'admin', silent)
  onTestFinished(() => own.connection.close())
  const there = await own.connection.jetstreamManager()
  await vi.waitFor(() => there.streams.info(streamName), soon)
  const lines = await keep(servers.natsUrl, { replicas: 3 })
  await vi.waitFor(() => expect(lines.join('')).toContain('NATS_STREAM_REPLICAS cannot be 3: '), soon)
  expect((await there.streams.info(streamName)).config.num_replicas).toBe(1)
  await there.streams.delete(streamName)
  await vi.waitFor(async () => expect((await there.streams.info(streamName)).config.num_replicas).toBe(1), soon)
}, 90_000)

test('the stream is compressed, also one that is there, and where NATS is too old, the log says so', async () => {
  const servers = await startOwnNats()
  onTestFinished(() => servers.stop())
  const own = await connectNats(servers.natsUrl.admin, 'admin', silent)
  onTestFinished(() => own.connection.close())
  const there = await own.connection.jetstreamManager()
  await ensureStream(there)
  const lines = await keep(servers.natsUrl, { compression: 's2' })
  const says = async () => [(await there.streams.info(streamName)).config.compression ?? 'none', lines.join('')]
  const isOld = isOlder(own.connection.info!.version, '2.10')
  const expected = isOld ? ['none', expect.stringContaining('has no effect before NATS 2.10')] : ['s2', '']
  await vi.waitFor(async () => expect(await says()).toEqual(expected), soon)
  await there.streams.delete(streamName)
  await vi.waitFor(async () => expect(await says()).toEqual(expected), soon)
}, 90_000)

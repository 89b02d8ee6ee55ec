import { AckPolicy, connect, createInbox, Events, type NatsConnection } from 'nats'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import type { NatsUser } from '../local/nats-users.ts'
import { startServers, type Servers } from '../local/servers.ts'

const elsewhere = { DATABASE_URL: 'postgres://none', REDIS_URL: 'redis://none', SMTP_URL: 'smtp://none' }
let servers: Servers

beforeAll(async () => {
  servers = await startServers({ ephemeral: true, ports: 'random', env: elsewhere })
}, 60_000)
afterAll(() => servers.stop())

test('a request reaches its service and the answer its caller', async () => {
  const [gateway, users, grants, notifier] = [
    await open('gateway'),
    await open('users'),
    await open('grants'),
    await open('notifier'),
  ]
  answer(users, 'roster.users.v1.UserService.SetEmail')
  answer(users, 'roster.users.v1.InternalService.Authenticate')
  answer(grants, 'roster.grants.v1.InternalService.Memberships')
  answer(users, '$SRV.PING.users')
  await Promise.all([users.flush(), grants.flush()])
  expect(await ask(gateway, 'roster.users.v1.UserService.SetEmail')).toBe('yes')
  expect(await ask(gateway, '$SRV.PING.users')).toBe('yes')
  expect(await ask(users, 'roster.grants.v1.InternalService.Memberships')).toBe('yes')
  expect(await ask(grants, 'roster.users.v1.InternalService.Authenticate')).toBe('yes')
  expect(await ask(notifier, 'roster.users.v1.InternalService.Authenticate')).toBe('yes')
})

test('an announced revocation reaches the gateway', async () => {
  const gateway = await open('gateway')
  const heard = gateway.subscribe('roster.callers.changed', { max: 2 })
  await gateway.flush()
  for (const user of ['users', 'grants'] as const) (await open(user)).publish('roster.callers.changed', user)
  const said: string[] = []
  for await (const message of heard) said.push(message.string())
  expect(said.toSorted()).toEqual(['grants', 'users'])
})

test('events go from their service through the stream to the notifier, which acknowledges them', async () => {
  const config = { name: 'roster-events', subjects: ['roster.events.>'], allow_direct: true }
  for (const user of ['users', 'grants', 'idp', 'notifier'] as const) {
    const service = await open(user)
    const manager = await service.jetstreamManager()
    if (user === 'users') await manager.streams.add(config)
    await manager.streams.info('roster-events')
    const subject = `roster.events.${user}.org.aggregate.type`
    await service.jetstream().publish(subject, user, { msgID: user })
    const last = await service.request(`$JS.API.DIRECT.GET.roster-events.${subject}`, '', { timeout: 2_000 })
    expect(last.string()).toBe(user)
  }
  const notifier = await open('notifier')
  const manager = await notifier.jetstreamManager()
  await manager.consumers.add('roster-events', {
    durable_name: 'notifier',
    filter_subject: 'roster.events.*.org.>',
    ack_policy: AckPolicy.Explicit,
  })
  const consumer = await notifier.jetstream().consumers.get('roster-events', 'notifier')
  for (const expected of ['users', 'grants', 'idp', 'notifier']) {
    const message = await consumer.next({ expires: 2_000 })
    expect(message?.string()).toBe(expected)
    expect(await message?.ackAck()).toBe(true)
  }
  expect((await consumer.info()).ack_floor.stream_seq).toBe(4)
})

const foreign: Record<Exclude<NatsUser, 'admin'>, { publish: string[]; subscribe: string[] }> = {
  users: {
    publish: [
      'roster.users.v1.UserService.SetEmail',
      'roster.grants.v1.UserGrantService.AddUserGrant',
      'roster.events.grants.x',
      '$JS.API.STREAM.DELETE.roster-events',
      '$JS.API.STREAM.PURGE.roster-events',
      '$JS.API.STREAM.UPDATE.roster-events',
      '$JS.API.CONSUMER.CREATE.roster-events',
      '$JS.API.STREAM.CREATE.other',
      '$JS.API.STREAM.MSG.GET.roster-events',
      '$JS.API.DIRECT.GET.roster-events',
      '_INBOX_gateway.x',
      '$SYS.REQ.SERVER.PING',
    ],
    subscribe: [
      'roster.grants.>',
      'roster.>',
      '>',
      '_INBOX_gateway.>',
      '_INBOX.>',
      'roster.events.>',
      'roster.callers.changed',
    ],
  },
  grants: {
    publish: [
      'roster.users.v1.UserService.SetEmail',
      'roster.events.users.x',
      '$JS.API.STREAM.DELETE.roster-events',
      '$JS.API.STREAM.UPDATE.roster-events',
      '$JS.API.CONSUMER.CREATE.roster-events',
      '$JS.API.CONSUMER.CREATE.roster-events.notifier',
      '$JS.API.CONSUMER.MSG.NEXT.roster-events.notifier',
      '$JS.API.CONSUMER.DELETE.roster-events.grants',
      '$JS.ACK.roster-events.notifier.1.1.1.1.1',
      'roster.idp.v1.IdentityProviderService.GetIDP',
    ],
    subscribe: ['roster.users.>', 'roster.idp.>', '>', '_INBOX_users.>'],
  },
  idp: {
    publish: [
      'roster.users.v1.InternalService.Authenticate',
      'roster.events.users.x',
      'roster.callers.changed',
      '$JS.API.STREAM.UPDATE.roster-events',
    ],
    subscribe: ['roster.users.>', 'roster.callers.changed', '>'],
  },
  notifier: {
    publish: [
      'roster.users.v1.UserService.SetEmail',
      'roster.events.users.x',
      'roster.callers.changed',
      'roster.grants.v1.UserGrantService.AddUserGrant',
      '$JS.API.STREAM.DELETE.roster-events',
      '$JS.API.STREAM.UPDATE.roster-events',
      '$JS.API.CONSUMER.CREATE.other',
      '$JS.API.CONSUMER.CREATE.roster-events.other.roster.events.>',
      '$JS.API.CONSUMER.DELETE.roster-events.organization-acme',
      '$JS.API.CONSUMER.MSG.NEXT.roster-events.organization-acme',
      '$JS.ACK.roster-events.notifier.1.1.1.1.1',
      'roster.happened.users',
    ],
    subscribe: ['roster.users.>', 'roster.events.>', 'roster.>', '_INBOX_users.>', '>'],
  },
  gateway: {
    publish: [
      'roster.events.users.x',
      'roster.callers.changed',
      '$JS.API.INFO',
      '$JS.API.STREAM.NAMES',
      '_INBOX_users.x',
    ],
    subscribe: ['roster.users.>', 'roster.notifier.>', 'roster.events.>', '_INBOX_users.>', '$SRV.>', '>'],
  },
}

test.for(Object.entries(foreign))(
  '%s can neither publish nor subscribe outside of its rights',
  async ([user, { publish, subscribe }]) => {
    const connection = await open(user as NatsUser)
    const violations = watchViolations(connection)
    for (const subject of publish) connection.publish(subject, '{}')
    for (const subject of subscribe) connection.subscribe(subject, { callback: () => {} })
    await connection.flush()
    await expect.poll(() => violations.size).toBe(publish.length + subscribe.length)
    expect([...violations]).toEqual(
      expect.arrayContaining([
        ...publish.map((subject) => `publish ${subject}`),
        ...subscribe.map((subject) => `subscription ${subject}`),
      ]),
    )
  },
)

test('no service can make the stream forget events', async () => {
  const admin = await open('admin')
  const manager = await admin.jetstreamManager()
  const config = { name: 'roster-events', subjects: ['roster.events.>'], allow_direct: true }
  await manager.streams.add(config)
  for (const text of ['one', 'two', 'three']) await admin.jetstream().publish('roster.events.users.forget', text)
  const held = (await manager.streams.info('roster-events')).state.messages
  for (const user of ['users', 'grants', 'idp', 'notifier'] as const) {
    const update = JSON.stringify({ ...config, max_msgs: 1 })
    await (await open(user)).request('$JS.API.STREAM.UPDATE.roster-events', update, { timeout: 500 }).catch(() => {})
  }
  expect((await manager.streams.info('roster-events')).state.messages).toBe(held)
})

async function open(user: NatsUser): Promise<NatsConnection> {
  const url = new URL(servers.natsUrl[user])
  const connection = await connect({
    servers: url.host,
    user: url.username,
    pass: url.password,
    inboxPrefix: `_INBOX_${user}`,
  })
  onTestFinished(() => connection.close())
  return connection
}

function answer(connection: NatsConnection, subject: string): void {
  connection.subscribe(subject, { queue: 'service', callback: (_error, message) => void message.respond('yes') })
}

async function ask(connection: NatsConnection, subject: string): Promise<string> {
  return (await connection.request(subject, createInbox(), { timeout: 2_000 })).string()
}

function watchViolations(connection: NatsConnection): Set<string> {
  const seen = new Set<string>()
  void (async () => {
    for await (const status of connection.status()) {
      if (status.type !== Events.Error || !('permissionContext' in status)) continue
      const { operation, subject } = status.permissionContext as { operation: string; subject: string }
      seen.add(`${operation} ${subject}`)
    }
  })()
  return seen
}

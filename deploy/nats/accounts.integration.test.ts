import { connect, createInbox, type NatsConnection } from 'nats'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { startTestKeeper } from '#test/support/keeper'
import type { NatsUser } from '../local/servers/nats-users.ts'
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
  answer(users, 'roster.users.v1.InternalService.*')
  answer(grants, 'roster.grants.v1.InternalService.ListMemberships')
  answer(users, '$SRV.INFO.users')
  await Promise.all([users.flush(), grants.flush()])
  expect(await ask(gateway, 'roster.users.v1.UserService.SetEmail')).toBe('yes')
  expect(await ask(gateway, '$SRV.INFO.users')).toBe('yes')
  expect(await ask(users, 'roster.grants.v1.InternalService.ListMemberships')).toBe('yes')
  expect(await ask(grants, 'roster.users.v1.InternalService.LookupUser')).toBe('yes')
  expect(await ask(notifier, 'roster.users.v1.InternalService.GetEmailCode')).toBe('yes')
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

test('events go from their service through the stream to its reader, which acknowledges them', async () => {
  const keeper = await startTestKeeper(servers.natsUrl)
  onTestFinished(() => keeper.stop())
  const events = {
    users: ['roster.events.users.org.user.u.removed', 'roster.events.users.org.user.u.email.code.requested'],
    grants: ['roster.events.grants.org.aggregate.id.type'],
    idp: ['roster.events.idp.org.aggregate.id.type'],
    notifier: ['roster.events.notifier.org.aggregate.id.type'],
  }
  let published = 0
  for (const [user, subjects] of Object.entries(events)) {
    const connection = await open(user as NatsUser)
    const state = async () => JSON.parse((await connection.request('roster.stream.state', '')).string())
    // Also makes the stream: a message that is published before it is there is lost.
    expect(await state()).toMatchObject({ last: published })
    for (const subject of subjects) {
      const { seq } = await connection.jetstream().publish(subject, user, { msgID: subject })
      expect(seq).toBe(++published)
    }
    expect(await state()).toMatchObject({ last: published })
  }
  const connection = await open('notifier')
  const consumer = await connection.jetstream({ apiPrefix: 'ROSTER.API' }).consumers.get('roster-events', 'notifier')
  const message = await consumer.next({ expires: 2_000 })
  expect(message?.subject).toBe(events.users[1])
  expect(await message?.ackAck()).toBe(true)
  expect(await consumer.info()).toMatchObject({ num_ack_pending: 0, num_pending: 0 })
})

test('a connection has so many subscriptions and no more, and an account so many connections', async () => {
  const greedy = await open('idp')
  const heard: string[] = []
  for (let i = 0; i < 1010; i++) greedy.subscribe(`x.${i}`, { callback: (_, { subject }) => heard.push(subject) })
  await greedy.flush()
  for (const i of [1, 999, 1009]) greedy.publish(`x.${i}`)
  await greedy.flush()
  expect(heard).toEqual(['x.1', 'x.999'])
  const opened = await Promise.allSettled(Array.from({ length: 110 }, () => open('idp')))
  expect(opened.filter(({ status }) => status === 'rejected').length).toBeGreaterThan(9)
  await (await open('users')).flush()
})

async function open(user: NatsUser): Promise<NatsConnection> {
  const url = new URL(servers.natsUrl[user])
  const connection = await connect({
    servers: url.host,
    user: url.username,
    pass: url.password,
    inboxPrefix: `_INBOX_${user}`,
    reconnect: false,
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

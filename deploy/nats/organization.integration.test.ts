import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, type NatsConnection } from 'nats'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Daemon } from '../local/daemon.ts'
import { openHome } from '../local/home.ts'
import { startNats } from '../local/servers/nats-server.ts'
import { freePort } from '../local/ports.ts'
import { addOrganizationConsumer } from './organization-consumer.ts'

const folder = mkdtempSync(join(tmpdir(), 'roster-organization-'))
const stream = 'roster-events'
const own = 'organization-acme'
let server: Daemon
let [admin, acme]: NatsConnection[] = []

beforeAll(async () => {
  const given = readFileSync(join(import.meta.dirname, 'nats.conf'), 'utf8')
  const config = join(folder, 'nats.conf')
  writeFileSync(config, given.replaceAll('#: ', ''))
  const env = { ROSTER_NATS_PASSWORD_ACME: 'acmePassword' }
  const started = await startNats(openHome(folder), { port: await freePort(0), say: () => {}, config, env })
  server = started.server
  const { host, username, password } = new URL(started.urls.admin)
  admin = await connect({ servers: host, user: username, pass: password })
  acme = await connect({ servers: host, user: 'acme', pass: 'acmePassword' })
  const manager = await admin.jetstreamManager()
  await manager.streams.add({ name: stream, subjects: ['roster.events.>'], allow_direct: true })
  for (const organization of ['acme', 'other', 'acme-2', 'acme', 'other'])
    await admin.jetstream().publish(`roster.events.users.${organization}.user.u.added`, organization)
  await addOrganizationConsumer(admin, 'acme')
  await addOrganizationConsumer(admin, 'other')
})

afterAll(async () => {
  await Promise.all([admin?.close(), acme?.close()])
  await server?.stop()
  rmSync(folder, { recursive: true, force: true })
})

/** Returns the answer to a request, or the reason why there is none. */
async function ask(subject: string, data: object | string = '') {
  const text = typeof data === 'string' ? data : JSON.stringify(data)
  return acme!.request(subject, text, { timeout: 1000 }).then(
    (message) => message.string(),
    (error: { code: string }) => error.code,
  )
}

test('whoever reads an organization gets its events, all of them, and acknowledges them', async () => {
  const consumer = await acme!.jetstream({ apiPrefix: 'ROSTER.API' }).consumers.get(stream, own)
  for (let i = 0; i < 2; i++) {
    const message = await consumer.next({ expires: 2000 })
    expect(message?.string()).toBe('acme')
    expect(await message?.ackAck()).toBe(true)
  }
  expect(await consumer.next({ expires: 1000 })).toBeNull()
  expect(await consumer.info()).toMatchObject({ num_ack_pending: 0, ack_floor: { consumer_seq: 2 } })
})

test('the consumer outlives that it is made again', async () => {
  await addOrganizationConsumer(admin!, 'acme')
  const { ack_floor: floor } = await (await admin!.jetstreamManager()).consumers.info(stream, own)
  expect(floor.consumer_seq).toBe(2)
})

test.each(['*', '>', 'a.b', '', 'a b'])('no consumer is made for %j, which is no organization', async (id) => {
  await expect(addOrganizationConsumer(admin!, id)).rejects.toThrow('is no id')
})

describe('it can read nothing else:', () => {
  const nowhere = /^503$|^TIMEOUT$|^PERMISSIONS_VIOLATION$/
  const config = (filter: string, name: string) => ({
    stream_name: stream,
    config: { durable_name: name, name, filter_subject: filter, ack_policy: 'explicit', deliver_policy: 'all' },
  })

  test.each([
    [`$JS.API.CONSUMER.CREATE.${stream}`, config('roster.events.>', 'mine')],
    [`$JS.API.CONSUMER.CREATE.${stream}.mine`, config('roster.events.>', 'mine')],
    [`$JS.API.CONSUMER.CREATE.${stream}.mine.roster.events.>`, config('roster.events.>', 'mine')],
    [`$JS.API.CONSUMER.CREATE.${stream}.${own}.roster.events.>`, config('roster.events.>', own)],
    [`$JS.API.CONSUMER.DURABLE.CREATE.${stream}.mine`, config('roster.events.>', 'mine')],
    [`$JS.API.CONSUMER.DURABLE.CREATE.${stream}.${own}`, config('roster.events.>', own)],
    [`$JS.API.CONSUMER.INFO.${stream}.organization-other`, ''],
    [`$JS.API.CONSUMER.MSG.NEXT.${stream}.organization-other`, '1'],
    [`$JS.API.CONSUMER.MSG.NEXT.${stream}.*`, '1'],
    [`ROSTER.API.CONSUMER.MSG.NEXT.${stream}.organization-other`, '1'],
    [`ROSTER.API.CONSUMER.CREATE.${stream}.${own}`, config('roster.events.>', own)],
    [`ROSTER.API.CONSUMER.DURABLE.CREATE.${stream}.${own}`, config('roster.events.>', own)],
    [`$JS.API.CONSUMER.LIST.${stream}`, ''],
    [`$JS.API.DIRECT.GET.${stream}`, { seq: 2 }],
    [`$JS.API.STREAM.MSG.GET.${stream}`, { seq: 2 }],
    [`$JS.API.STREAM.INFO.${stream}`, ''],
    [`$JS.API.STREAM.PURGE.${stream}`, ''],
    ['$JS.API.STREAM.CREATE.mine', { name: 'mine', mirror: { name: stream } }],
    ['roster.users.v1.UserService.GetUser', ''],
  ])('not by %s', async (subject, data) => {
    expect(await ask(subject, data)).toMatch(nowhere)
  })

  test('not by listening, whatever to', async () => {
    const heard: string[] = []
    const listening = ['>', 'roster.events.>', '$JS.>', '_INBOX.>', '_R_.>'].map((subject) =>
      acme!.subscribe(subject, { callback: (_, { data }) => void heard.push(new TextDecoder().decode(data)) }),
    )
    await acme!.flush()
    const foreign = await admin!.jetstream().consumers.get(stream, 'organization-other')
    expect((await foreign.next({ expires: 2000 }))?.string()).toBe('other')
    await admin!.jetstream().publish('roster.events.users.other.user.u.added', 'other')
    await acme!.flush()
    for (const subscription of listening) subscription.unsubscribe()
    expect(heard).toEqual([])
  })

  test('and it can say nothing to the services, not even by where an answer goes', async () => {
    const heard: string[] = []
    admin!.subscribe('roster.>', { callback: (_, { subject }) => void heard.push(subject) })
    await admin!.flush()
    const reply = 'roster.events.users.other.user.u.forged'
    const answer = acme!.subscribe(reply, { max: 1 })
    acme!.publish('roster.callers.changed', 'x')
    acme!.publish('roster.events.users.other.user.u.added', 'forged')
    acme!.publish(`ROSTER.API.CONSUMER.MSG.NEXT.${stream}.${own}`, '1', { reply })
    await acme!.flush()
    await admin!.jetstream().publish('roster.events.users.acme.user.u.added', 'acme')
    for await (const message of answer) expect(message.string()).toBe('acme')
    await admin!.flush()
    expect(heard).toEqual(['roster.events.users.acme.user.u.added'])
  })
})

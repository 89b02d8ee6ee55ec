import { headers as natsHeaders } from 'nats'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openDatabase, type Sql } from '#lib/database/database'
import { checkpointSubject } from '#lib/events/checkpoint-subject'
import { streamName } from '#lib/events/stream'
import { truncatedType } from '#lib/eventstore/history'
import { connectNats, type Nats } from '#lib/nats/connect-nats'
import { backUp } from '#test/support/another-life'
import { type OperatedHouse, startOperatedHouse } from '#test/support/operated-house'
import { readStream } from '#test/support/publishing'
import { startTestReceiver, type TestReceiver } from '#test/support/receiver'
import { silent } from '#test/support/rpc'

let there: OperatedHouse
let receiver: TestReceiver
let users: Sql
let admin: Nats

beforeAll(async () => {
  receiver = await startTestReceiver()
  there = await startOperatedHouse({ WEBHOOK_ALLOW_PRIVATE: '127.0.0.1', CHECKPOINT_INTERVAL: '1' })
  admin = await connectNats(there.servers.natsUrl.admin, 'admin', silent)
  users = openDatabase(there.servers.serviceDatabaseUrls.users, 'test', silent)
}, 120_000)
afterAll(async () => {
  await users?.end({ timeout: 5 })
  await admin?.connection.close()
  await there?.stop()
  await receiver?.stop()
})

const run: OperatedHouse['roster'] = (...args) => there.roster(...args)
const report = async () =>
  (await (await fetch(`${there.house.url}/readyz`)).json()) as { status: string; ahead?: string[] }

const eventsInStream = () => readStream(admin)

test('events that a restored database lacks go from the stream, and who lost them is told', async () => {
  const human = {
    userName: 'ada',
    profile: { firstName: 'Ada', lastName: 'Lovelace' },
    email: { email: 'ada@example.com' },
  }
  const { userId } = await there.act('AddHumanUser', human)
  const other = (await there.act('AddOrganization', { name: 'Other' })).organizationId
  await there.act('AddWebhook', { url: receiver.url, eventTypes: ['roster.project.*'] })
  await expect.poll(async () => (await run('status')).status).toBe(0)
  const signed = async () => (await users`select from audit_checkpoints where published`).count
  await expect.poll(signed).toBeGreaterThan(0)
  const before = await signed()
  const { streams } = await admin.connection.jetstreamManager()
  const checkpoint = await streams.getMessage(streamName, { last_by_subj: checkpointSubject('users') })
  const restore = await backUp(users)
  await there.act('LockUser', { userId })
  await there.act('SetEmail', { userId, email: 'lost@example.com' })
  const emails = async () => (await eventsInStream()).filter(({ type }) => type === 'roster.user.email.changed.v1')
  await expect.poll(emails).toHaveLength(1)
  const [lost] = await emails()
  expect((await run('history', 'show')).out).toContain('no event that the database lacks')
  // What signs the lost events is lost with them. A checkpoint of before may come to the stream behind all that.
  await expect.poll(signed).toBeGreaterThan(before)
  const headers = natsHeaders()
  for (const name of checkpoint.header.keys())
    if (name.startsWith('ce-')) headers.set(name, checkpoint.header.get(name))
  await admin.connection.jetstream().publish(checkpoint.subject, checkpoint.data, { headers })

  await restore()
  await expect.poll(report).toMatchObject({ status: 'degraded', ahead: ['users'] })
  expect((await run('status')).out).toContain('! users: the stream has events that the database lacks')
  const shown = await run('history', 'show')
  expect(shown).toMatchObject({ status: 1 })
  expect(shown.out).toMatch(
    new RegExp(`^${lost!.id} +roster\\.user\\.email\\.changed\\.v1 +user/${userId} +${lost!.organizationId} `, 'm'),
  )
  // What happens meanwhile is nobody's loss.
  await there.act('SetEmail', { userId, email: 'new@example.com' })
  await expect.poll(signed).toBeGreaterThan(before)

  const asked = await run('history', 'reconcile')
  expect(asked.err).toContain('Nothing was done')
  expect(asked.err).toContain('1 of them took something away: "removals repeat"')
  expect(await run('history', 'reconcile', '--yes')).toMatchObject({ status: 0 })
  await expect.poll(report).toMatchObject({ status: 'ok' })
  await expect.poll(async () => (await eventsInStream()).filter(({ type }) => type === truncatedType)).toHaveLength(1)
  const events = await eventsInStream()
  expect(events.map(({ id }) => id)).not.toContain(lost!.id)
  expect(events.filter(({ type }) => type === 'roster.user.email.changed.v1')).toHaveLength(1)
  const [told] = events.filter(({ type }) => type === truncatedType)
  expect(told).toMatchObject({ organizationId: lost!.organizationId, data: { service: 'users' } })
  expect(told!.organizationId).not.toBe(other)
  expect(Number((told!.data as { lastPosition: string }).lastPosition)).toBeLessThan(Number(lost!.id.split('-')[1]))
  await expect.poll(() => receiver.taken().map(({ event }) => event.type)).toEqual([truncatedType])
  for (const what of [[], ['--audit']])
    await expect.poll(async () => (await run('verify', ...what)).out).toContain('Nothing differs.')
})

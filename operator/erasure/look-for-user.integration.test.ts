import { Redis } from 'ioredis'
import { connect } from 'nats'
import type postgres from 'postgres'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { mailQueueName } from '../../services/notifier/mails/queue/mail-queue.ts'
import { queuePrefix } from '../../services/notifier/redis.ts'
import { type OperatedHouse, startOperatedHouse } from '#test/support/operated-house'
import { readUrls } from '../settings.ts'
import { openSystem, type System } from '../system.ts'
import { lookForUser } from './look-for-user.ts'

let there: OperatedHouse
let system: System
let admin: postgres.Sql
let userId = ''
let organizationId = ''

// A user who was removed, of whom nothing readable is left.
beforeAll(async () => {
  there = await startOperatedHouse()
  system = openSystem(readUrls(there.settings))
  admin = there.admin
  await act('AddWebhook', { url: 'https://hook.invalid/', eventTypes: [] })
  const profile = { firstName: 'Wyx', lastName: 'Wyx' }
  const added = await act('AddHumanUser', { userName: 'wyx', profile, email: { email: 'wyx@example.com' } })
  ;[userId, organizationId] = [added.userId, added.details.resourceOwner]
  await act('SetEmail', { userId, email: 'wyx2@example.com', isVerified: true })
  const deliveries = () => admin`select from roster_notifier.deliveries where aggregate = ${`user/${userId}`}`
  await vi.waitFor(async () => expect((await deliveries()).length).toBeGreaterThan(1), soon)
  await act('DeleteUser', { userId })
  await vi.waitFor(async () => expect(await readableStores()).toEqual([]), soon)
}, 120_000)
afterAll(async () => {
  await system?.close()
  await there?.stop()
})

const soon = { timeout: 60_000, interval: 200 }
const act: OperatedHouse['act'] = (...args) => there.act(...args)
const readableStores = async () =>
  (await lookForUser(system, userId))!
    .filter(({ readable }) => readable > 0)
    .map(({ store, problem }) => (problem === undefined ? store : `${store}: ${problem}`))

const table = (columns: string, values: string, name: string) => async () => {
  await admin.unsafe(`insert into roster_users.${name} (${columns}) values (${values.replaceAll('$user', userId)})`)
  return () => admin.unsafe(`delete from roster_users.${name} where ${columns.split(', ')[0]} = '${userId}'`)
}
const changed = (name: string, condition: string, change: string, back: string) => async () => {
  const where = condition.replaceAll('$user', userId)
  await admin.unsafe(`update ${name} set ${change} where ${where}`)
  return () => admin.unsafe(`update ${name} set ${back} where ${where}`)
}
const ofUser = "type = 'user' and id = '$user'"
const first = "aggregate_type = 'user' and aggregate_id = '$user' and sequence = 1"
const streamed = (data: string) => async () => {
  const { host, username, password } = new URL(there.servers.natsUrl.admin)
  const nats = await connect({ servers: host, user: username, pass: password })
  const subject = `roster.events.users.${organizationId}.user.${userId}.email.changed`
  await nats.jetstream().publish(subject, data)
  return async () => {
    await (await nats.jetstreamManager()).streams.purge('roster-events', { filter: subject })
    await nats.close()
  }
}
// Meanwhile PostgreSQL makes none anew.
const sampled = async () => {
  const open = await admin.reserve()
  await open`begin`
  await open`lock table roster_users.found_users in share update exclusive mode`
  await admin`update roster_users.forgettings set statistics_at = null where user_id = ${userId}`
  return async () => {
    await admin`update roster_users.forgettings set statistics_at = now() where user_id = ${userId}`
    await open`rollback`
    open.release()
  }
}
const neverSampled = async () => {
  await admin`analyze roster_users.found_users`
  await admin`alter table roster_users.found_users alter column user_id set statistics 0`
  return () => admin`alter table roster_users.found_users alter column user_id set statistics -1`
}
const delivered = (payload: string) => async () => {
  const [row] =
    await admin`select id, payload from roster_notifier.deliveries where aggregate = ${`user/${userId}`} limit 1`
  const put = (text: string) => admin`update roster_notifier.deliveries set payload = ${text} where id = ${row!['id']}`
  await put(payload)
  return () => put(row!['payload'])
}
const queued = (data: () => string) => async () => {
  const redis = new Redis(there.servers.redisUrl)
  const key = `${queuePrefix}:${mailQueueName}:wyx`
  await redis.hset(key, 'data', data())
  return async () => {
    await redis.del(key)
    redis.disconnect()
  }
}

test.each<[string, () => Promise<() => Promise<unknown> | PromiseLike<unknown>>]>([
  ['subject_keys', table('subject_id, wrapped', "'$user', ''", 'subject_keys')],
  [
    'events',
    changed('roster_users.events', first, `payload = payload || '{"email": "w"}'`, "payload = payload - 'email'"),
  ],
  [
    'aggregates',
    changed('roster_users.aggregates', ofUser, `state = state - 'removed'`, `state = state || '{"removed": true}'`),
  ],
  [
    'aggregates',
    changed('roster_users.aggregates', ofUser, `state = state || '{"former": {}}'`, `state = state - 'former'`),
  ],
  ['unique_keys', table('aggregate_id, kind, scope, key', "'$user', 'k', 's', 'k'", 'unique_keys')],
  ['found_addresses', table('user_id, organization_id, email', "'$user', 'o', 'w'", 'found_addresses')],
  ['passwords', table('user_id, hash', "'$user', ''", 'passwords')],
  [
    'login_addresses',
    table('user_id, address, organization_id, proved, since', "'$user', 'a', 'o', true, 1", 'login_addresses'),
  ],
  [
    'browser_sessions',
    table('user_id, browser_id, session_id, used_at', "'$user', 'b', 's', now()", 'browser_sessions'),
  ],
  ['consents', table('user_id, application_id, scopes, given_at', "'$user', 'a', '{}', now()", 'consents')],
  [
    'authorization_requests',
    table(
      'user_id, id, units, parameters, began_at, expires_at',
      "'$user', 'r', 1, '', now(), now()",
      'authorization_requests',
    ),
  ],
  ['secrets', table('user_id, kind, id, expires_at, detail', "'$user', 'code', 's', now(), ''", 'secrets')],
  [
    'authorizations',
    table(
      'user_id, authorization_id, application_id, session_id, offline, session_bound',
      "'$user', 'a', 'p', 's', false, true",
      'authorizations',
    ),
  ],
  [
    'surplus_authorizations',
    table('user_id, authorization_id, reason', "'$user', 'a', 'surplus'", 'surplus_authorizations'),
  ],
  ['known_addresses', table('user_id, address, key_id', "'$user', '', ''", 'known_addresses')],
  [
    'unsent_mails',
    table('user_id, mail_id, kind, requested_at, expires_at', "'$user', 'm', '', now(), now()", 'unsent_mails'),
  ],
  [
    'unsent_email_codes',
    table('user_id, code_id, requested_at, expires_at', "'$user', 'c', now(), now()", 'unsent_email_codes'),
  ],
  ['tokens', table('user_id, hash, organization_id, human, session_id', "'$user', '', '', true, ''", 'tokens')],
  ['statistics', sampled],
  ['statistics', neverSampled],
  ['stream', changed('roster_users.forgettings', "user_id = '$user'", 'stream_at = null', 'stream_at = now()')],
  [
    'stream',
    changed('roster_users.forgettings', "user_id = '$user'", 'stream_generation = -1', 'stream_generation = 0'),
  ],
  ['stream', streamed(JSON.stringify({ email: 'w@example.com' }))],
  ['stream', streamed('no JSON')],
  ['stream', streamed('null')],
  [
    'deliveries',
    changed(
      'roster_notifier.deliveries',
      "aggregate = 'user/$user' and event_type like '%email.changed%'",
      `payload = jsonb_set(payload::jsonb, '{data,email}', '"w"')::text`,
      `payload = (payload::jsonb #- '{data,email}')::text`,
    ),
  ],
  ['deliveries', delivered('no JSON')],
  ['deliveries', delivered('null')],
  ['redis', queued(() => JSON.stringify({ userId, address: 'w@example.com' }))],
  ['redis', queued(() => 'no JSON')],
  ['redis', queued(() => 'null')],
])('what identifies a removed user again is named: %s', async (store, happens) => {
  const undo = await happens()
  try {
    expect(await readableStores()).toEqual([store])
  } finally {
    await undo()
  }
  expect(await readableStores()).toEqual([])
})

test('a store that cannot be looked at is named with the reason, and the others are looked at', async () => {
  await admin`revoke select (payload) on roster_notifier.deliveries from roster_operator_notifier`
  try {
    const { status, out, err } = await there.roster('forgotten', userId, '--json')
    const problem = 'permission denied for table deliveries'
    expect({ status, err }).toEqual({ status: 2, err: `deliveries: cannot be looked at: ${problem}\n` })
    expect(JSON.parse(out)).toMatchObject({ forgotten: false })
    expect(JSON.parse(out).stores).toContainEqual({ store: 'deliveries', rows: 0, readable: 1, problem })
    expect(JSON.parse(out).stores).toContainEqual({ store: 'redis', rows: expect.any(Number), readable: 0 })
  } finally {
    await admin`grant select (payload) on roster_notifier.deliveries to roster_operator_notifier`
  }
})

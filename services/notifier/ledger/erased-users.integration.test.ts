import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { Event } from '#gen/roster/feed/v1/feed'
import { erasable } from '#lib/outbox/erase-in-stream'
import { openDatabase, type Sql } from '#lib/database/database'
import { migrate } from '#lib/schema/migrate'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { silent } from '#test/support/rpc'
import { mailRows, mostWrongTries, typesWithFacts } from './mail-rows.ts'
import { webhookRows } from './webhook-rows.ts'

let database: TestDatabase
let sql: Sql
let taken = 0

beforeAll(async () => {
  database = await createDatabase()
  sql = openDatabase(database.urls.notifier, 'notifier', silent)
  await migrate(sql, new URL('../migrations/', import.meta.url), silent)
})
afterAll(async () => {
  await sql.end()
  await database.drop()
})
beforeEach(async () => void (await sql`truncate deliveries, chains`))

const receiver = {
  webhook_id: 'hook',
  organization_id: 'acme',
  all_organizations: false,
  event_types: [],
  created_at: new Date(0),
}

function event(userId: string, type: string, data: Event['data'] = {}, aggregateType = 'user'): Event {
  return {
    ...Event.decode(new Uint8Array()),
    id: `users-${++taken}`,
    type: `roster.${aggregateType}.${type}.v1`,
    organizationId: 'acme',
    aggregateType,
    aggregateId: userId,
    time: new Date(),
    data,
  }
}

async function takeIn(service: string, ...events: Event[]) {
  const place = (position: unknown) => JSON.stringify({ transaction_id: 1, position })
  const [cursor] = await sql`select position from cursors where service = ${service}`
  await sql`
    select take_in(
      ${service}, ${cursor ? place(cursor['position']) : null}::text::jsonb, ${place(taken)}::text::jsonb,
      ${JSON.stringify(webhookRows(events, [receiver], new Date(0)))}::text::jsonb,
      ${JSON.stringify(mailRows(events))}::text::jsonb, ${mostWrongTries}
    )
  `
}

const deliveries = async (userId: string) =>
  (
    await sql<{ payload: string }[]>`
      select payload from deliveries where aggregate like ${`%/${userId}`} order by position
    `
  ).map(({ payload }) => JSON.parse(payload) as { type: string; data: object; dataOmitted?: string; id: string })

const added = (userId: string) =>
  event(userId, 'human.added', {
    userName: 'gigi',
    profile: { firstName: 'Gigi', lastName: 'Giraffe' },
    email: 'gigi@example.com',
    isVerified: true,
  })

test('when a user is removed, its deliveries lose what is personal and keep everything else and their order', async () => {
  const events = [
    added('u'),
    event('u', 'email.changed', { email: 'gigi2@example.com', isVerified: false, setBy: 'boss' }),
    event('u', 'failed', { codeId: 'c', failure: 'SMTP 550: gigi2@example.com is unknown' }, 'user.email.code'),
    event('u', 'deactivated'),
  ]
  await takeIn('users', ...events)
  await takeIn('users', event('u', 'removed'))
  const kept = await deliveries('u')
  expect(JSON.stringify(kept)).not.toMatch(/gigi/i)
  expect(kept.map(({ id }) => id)).toEqual([...events.map(({ id }) => id), `users-${taken}`])
  expect(kept.map(({ data, dataOmitted }) => [data, dataOmitted])).toEqual([
    [{ isVerified: true }, 'forgotten'],
    [{ isVerified: false, setBy: 'boss' }, 'forgotten'],
    [{ codeId: 'c' }, 'forgotten'],
    [{}, undefined],
    [{}, undefined],
  ])
})

test('a delivery that was sent, failed or belongs to the page of the removal is no exception', async () => {
  await takeIn('users', added('v'), added('v'))
  await sql`update deliveries set state = case when position % 2 = 0 then 'sent' else 'failed' end`
  await takeIn('users', added('v'), event('v', 'removed'))
  expect(JSON.stringify(await deliveries('v'))).not.toMatch(/gigi/i)
})

test.each(erasable['users']!)('a delivery of the type %s loses it, too', async (type) => {
  const failure = 'SMTP 550: gigi@example.com is unknown'
  await takeIn('users', event('t', 'failed', { codeId: 'c', failure }, type))
  expect(JSON.stringify(await deliveries('t'))).toContain('gigi')
  await takeIn('users', event('t', 'removed'))
  expect((await deliveries('t')).map(({ data }) => data)).toEqual([{ codeId: 'c' }, {}])
})

test('other users keep theirs, as does an aggregate of another kind with the same id', async () => {
  const project = event('w', 'added', { name: 'Gigi' }, 'project')
  await takeIn('users', added('x'), added('ww'), project)
  const before = [...(await deliveries('x')), ...(await deliveries('ww')), ...(await deliveries('w'))]
  await takeIn('users', event('w', 'removed'))
  expect([...(await deliveries('x')), ...(await deliveries('ww')), ...(await deliveries('w'))].slice(0, 3)).toEqual(
    before,
  )
})

test('a removal that can be undone takes nothing, until the user is erased', async () => {
  await takeIn('users', added('y'), event('y', 'removed', { forgetAt: '2030-01-01T00:00:00Z' }))
  expect(JSON.stringify(await deliveries('y'))).toContain('gigi@example.com')
  await takeIn('users', event('y', 'forgotten'))
  expect(JSON.stringify(await deliveries('y'))).not.toMatch(/gigi/i)
})

test('a mail loses its user and its reply, and gets no later one', async () => {
  const report = (more: object) => sql`
    select report_mails(${JSON.stringify([
      {
        code_id: 'code-m',
        organization_id: 'acme',
        user_id: 'm',
        mail_kind: 'email-code',
        expires_at: new Date(Date.now() + 60_000),
        tries: 1,
        of_recorded: false,
        ...more,
      },
    ])}::text::jsonb)
  `
  const mail = async () => (await sql`select user_id, state, reply from deliveries where code_id = 'code-m'`)[0]
  const expiresAt = new Date(Date.now() + 60_000).toISOString()
  await takeIn('users', event('m', 'email.code.requested', { codeId: 'code-m', expiresAt }))
  await report({ state: 'queued', reply: '451 greylisted', error: 'SMTP 451' })
  expect(await mail()).toEqual({ user_id: 'm', state: 'queued', reply: '451 greylisted' })
  await takeIn('users', event('m', 'removed'))
  expect(await mail()).toEqual({ user_id: '', state: 'superseded', reply: null })
  await report({ state: 'sent', reply: '250 queued', error: '' })
  expect(await mail()).toEqual({ user_id: '', state: 'sent', reply: null })
})

test('a bounced mail loses the reason, and gets no later one', async () => {
  const bounce = (mailId: string) => sql`
    select report_bounces(${JSON.stringify([{ code_id: mailId, status: '5.1.1', reason: 'no Gigi here' }])}::text::jsonb)
  `
  const expiresAt = new Date(Date.now() + 60_000).toISOString()
  const requested = (userId: string, codeId: string) => event(userId, 'email.code.requested', { codeId, expiresAt })
  await takeIn('users', requested('b', 'code-b'), requested('b', 'code-late'), requested('c', 'code-c'))
  await bounce('code-b')
  await bounce('code-c')
  await takeIn('users', event('b', 'removed'))
  await bounce('code-late')
  expect(await sql`select code_id, status, reason from mail_bounces order by code_id`).toEqual([
    { code_id: 'code-b', status: '5.1.1', reason: '' },
    { code_id: 'code-c', status: '5.1.1', reason: 'no Gigi here' },
    { code_id: 'code-late', status: '5.1.1', reason: '' },
  ])
})

test('PostgreSQL’s own samples have nothing of the deliveries', async () => {
  const samples = async () =>
    JSON.stringify(
      await sql`
        select attname, most_common_vals::text, histogram_bounds::text from pg_stats
        where schemaname = current_schema() and tablename = 'deliveries'
      `,
    )
  await takeIn('users', ...Array.from({ length: 50 }, (_, n) => added(`sampled-${n}`)))
  await sql`analyze deliveries`
  expect(await samples()).not.toMatch(/gigi/)
  expect(await samples()).toContain('event_id')
})

test('another service cannot erase users', async () => {
  await takeIn('users', added('z'))
  await takeIn('grants', event('z', 'removed'))
  expect(JSON.stringify(await deliveries('z'))).toContain('gigi@example.com')
})

test('a removal looks at the deliveries of its user alone, however many there are', async () => {
  for (let page = 0; page < 10; page++)
    await takeIn('users', ...Array.from({ length: 200 }, (_, n) => added(`many-${page}-${n}`)))
  const read = async () => {
    await sql`select pg_stat_force_next_flush()`
    const [row] = await sql<[{ count: string }]>`
      select coalesce(sum(idx_tup_read), 0) + coalesce(sum(seq_tup_read), 0) as count
      from pg_stat_user_indexes i full join pg_stat_user_tables t using (relname) where relname = 'deliveries'
    `
    return Number(row.count)
  }
  const before = await read()
  await takeIn('users', event('many-0-0', 'removed'))
  expect((await read()) - before).toBeLessThan(500)
})

test('a removal that can be undone takes nothing from deliveries, as it is listed where no webhook wants it', async () => {
  await takeIn('users', added('w'))
  const removal = event('w', 'removed', { forgetAt: new Date(Date.now() + 60_000).toISOString() })
  await takeIn('users', { ...removal, data: typesWithFacts.includes(removal.type) ? removal.data : undefined })
  expect(JSON.stringify(await deliveries('w'))).toMatch(/gigi/i)
})

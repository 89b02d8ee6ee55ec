import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { openDatabase, type Sql } from '#lib/database/database'
import { migrate } from '#lib/schema/migrate'
import { silent } from '#test/support/rpc'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { watchPortions } from '#test/support/portions'
import { startWebhookSweep } from './webhook-sweep.ts'

const day = 24 * 60 * 60_000
const soon = { timeout: 15_000 }
let database: TestDatabase
let sql: Sql

beforeAll(async () => {
  database = await createDatabase()
  sql = openDatabase(database.urls.notifier, 'notifier', silent)
  await migrate(sql, new URL('../migrations/', import.meta.url), silent)
  await sql`insert into webhooks values
    ('slow', 'o', false, 'https://example.com', '{}', true, now()),
    ('paused', 'o', false, 'https://example.com', '{}', false, now())`
})
beforeEach(() => sql`truncate deliveries, chains`)
afterAll(async () => {
  await sql.end()
  await database.drop()
})

/** Queues events for a webhook as if so many hours ago. */
async function queue(webhookId: string, count: number, hoursAgo: number) {
  await sql`
    insert into deliveries (id, kind, state, organization_id, event_id, event_type, user_id, aggregate, webhook_id,
      payload, queued_at, created_at, changed_at)
    select concat_ws(' ', ${webhookId}::text, ${hoursAgo}::int, n), 'webhook', 'queued', 'o',
      concat_ws(' ', ${hoursAgo}::int, n), 't', '', 'user/' || n, ${webhookId}, '{}',
      now() - make_interval(hours => ${hoursAgo}), now(), now()
    from generate_series(1, ${count}::int) n
  `
  await sql`
    insert into chains
    select webhook_id, aggregate, now() from deliveries where webhook_id = ${webhookId}
    on conflict do nothing
  `
}

function startSweep() {
  const sweep = startWebhookSweep({ sql, worker: { look() {} }, log: silent, every: 50, retryFor: day })
  onTestFinished(() => sweep.stop())
}

async function states() {
  const rows = await sql<{ text: string }[]>`
    select concat_ws(' ', webhook_id, state, error, count(*)) as text
    from deliveries group by webhook_id, state, error order by text
  `
  return rows.map(({ text }) => text)
}

test('deliveries are given up after their time, however many there are and however slow the receiver', async () => {
  await queue('slow', 2500, 25)
  await queue('slow', 2, 23)
  await queue('paused', 3, 25)
  await queue('paused', 1, 23)
  startSweep()
  await vi.waitFor(
    async () =>
      expect(await states()).toEqual([
        'paused failed the webhook was paused 3',
        'paused queued  1',
        'slow failed not sent in time 2500',
        'slow queued  2',
      ]),
    soon,
  )
})

test('what is known of a bounce goes with its mail, or after a day where there is none', async () => {
  const mail = (id: string) => sql`
    insert into deliveries (id, kind, state, organization_id, event_id, event_type, user_id, code_id, mail_kind, expires_at,
      queued_at, created_at, changed_at)
    values (${id}, 'mail', 'sent', 'o', '', '', '', ${id}, 'email-code', now(), now(), now(),
      now() - ${id === 'old' ? '31 days' : '29 days'}::interval)
  `
  const bounce = (id: string, ago: string) => sql`
    insert into mail_bounces values (${id}, now() - ${ago}::interval, '5.1.1', '')
  `
  await mail('old')
  await mail('young')
  for (const id of ['old', 'young', 'of no mail']) await bounce(id, '25 hours')
  await bounce('of a mail to come', '23 hours')
  startSweep()
  const left = async () => (await sql`select code_id from mail_bounces order by 1`).map((row) => row['code_id'])
  await vi.waitFor(async () => expect(await left()).toEqual(['of a mail to come', 'young']), soon)
})

test('all deliveries that wait for a removed webhook fail, however many, and no chain is left', async () => {
  await queue('removed', 2500, 1)
  await queue('slow', 1, 1)
  startSweep()
  await vi.waitFor(
    async () => expect(await states()).toEqual(['removed failed the webhook was removed 2500', 'slow queued  1']),
    soon,
  )
  await vi.waitFor(
    async () => expect([...(await sql`select webhook_id from chains`)]).toEqual([{ webhook_id: 'slow' }]),
    soon,
  )
})

test('no statement changes more than a thousand deliveries, also where all of a removed webhook wait in one chain', async () => {
  await queue('removed', 2500, 1)
  await sql`update deliveries set aggregate = 'user/1'`
  await sql`delete from chains where aggregate <> 'user/1'`
  await sql`
    insert into deliveries (id, kind, state, organization_id, event_id, event_type, user_id, code_id, expires_at,
      queued_at, created_at, changed_at)
    select 'mail ' || n, 'mail', 'queued', 'o', n, 't', n, n, now() - interval '1 hour', now(), now(), now()
    from generate_series(1, 2500) n
  `
  const most = await watchPortions(sql, 'deliveries')
  startSweep()
  await vi.waitFor(
    async () => expect(await states()).toEqual(['removed failed the webhook was removed 2500', 'superseded  2500']),
    soon,
  )
  expect(await most()).toBe(1000)
})

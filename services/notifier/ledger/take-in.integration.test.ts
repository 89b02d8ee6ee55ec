import postgres from 'postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Event } from '#gen/roster/feed/v1/feed'
import { connectionOptions, openDatabase, type Sql } from '#lib/database/database'
import { migrate } from '#lib/schema/migrate'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { silent } from '#test/support/rpc'
import { mailRows, mostWrongTries } from './mail-rows.ts'

let database: TestDatabase
let sql: Sql
let taken = 0

beforeAll(async () => {
  database = await createDatabase()
  const migrating = openDatabase(database.urls.notifier, 'notifier', silent)
  await migrate(migrating, new URL('../migrations/', import.meta.url), silent)
  await migrating.end()
  // One connection: what another one read would be counted later.
  const { url, ...options } = connectionOptions(database.urls.notifier, 'notifier')
  sql = postgres(url, { ...options, max: 1 })
})
afterAll(async () => {
  await sql.end()
  await database.drop()
})

const later = new Date(Date.now() + 60_000).toISOString()

function event(userId: string, type: string, codeId?: string): Event {
  return {
    ...Event.decode(new Uint8Array()),
    id: `users-${++taken}`,
    type: `roster.user.${type}.v1`,
    aggregateType: 'user',
    aggregateId: userId,
    time: new Date(),
    data: { codeId, expiresAt: later },
  }
}

async function takeIn(...events: Event[]) {
  const place = () => JSON.stringify({ transaction_id: 1, position: taken })
  const [cursor] = await sql`select position from cursors`
  const was = cursor ? JSON.stringify({ transaction_id: 1, position: cursor['position'] }) : null
  await sql`
    select take_in('users', ${was}::text::jsonb, ${place()}::text::jsonb, '[]',
      ${JSON.stringify(mailRows(events))}::text::jsonb, ${mostWrongTries})
  `
}

const mailsOf = async (userId: string) =>
  (await sql`select code_id, state from deliveries where user_id = ${userId} order by position`).map(
    ({ code_id, state }) => `${code_id} ${state}`,
  )

const asked = 'email.code.requested'
const drops = ['email.changed', 'email.verified', 'email.code.returned']

test.each(drops)('%s drops a mail that waits since an earlier page', async (type) => {
  await takeIn(event(type, asked, `${type}-1`))
  await takeIn(event(type, type))
  expect(await mailsOf(type)).toEqual([`${type}-1 superseded`])
})

test('removed drops a mail that waits since an earlier page, which is then of no user', async () => {
  await takeIn(event('r', asked, 'r-1'))
  await takeIn(event('r', 'removed'))
  expect(await mailsOf('r')).toEqual([])
  expect(await sql`select state, user_id from deliveries where code_id = 'r-1'`).toEqual([
    { state: 'superseded', user_id: '' },
  ])
})

test('within a page, a change drops the mails of before, and none of after', async () => {
  await takeIn(
    event('u', asked, 'c1'),
    event('u', 'email.changed'),
    event('u', asked, 'c2'),
    event('v', 'email.changed'),
  )
  expect(await mailsOf('u')).toEqual(['c1 superseded', 'c2 queued'])
  await takeIn(event('y', asked, 'c3'), event('y', 'email.verified'))
  expect(await mailsOf('y')).toEqual(['c3 superseded'])
  expect(await mailsOf('v')).toEqual([])
})

test('a change without a mail drops no mail of others, and not the mails of another kind', async () => {
  await takeIn(event('w', asked, 'w1'), event('w', 'password.code.requested', 'w2'))
  await takeIn(event('x', 'email.changed'), event('w', 'email.verified'))
  expect(await mailsOf('w')).toEqual(['w1 superseded', 'w2 queued'])
})

test('the end of a mail is found by its code, however many mails wait', async () => {
  const users = Array.from({ length: 300 }, (_, n) => `many-${n}`)
  // PostgreSQL makes its plan while the table is small, and keeps it.
  for (const user of users) await takeIn(event(user, asked, `code-${user}`), event(user, asked, `code2-${user}`))
  const read = async () => {
    await sql`select pg_stat_force_next_flush()`
    const [{ count }] = await sql<[{ count: string }]>`
      select sum(idx_tup_read) as count from pg_stat_user_indexes where relname = 'deliveries'
    `
    return Number(count)
  }
  const before = await read()
  await takeIn(...users.map((user) => event(user, 'email.code.sent', `code2-${user}`)))
  expect(await read()).toBeLessThan(before + 5 * users.length)
  expect(await mailsOf('many-0')).toEqual(['code-many-0 superseded', 'code2-many-0 sent'])
})

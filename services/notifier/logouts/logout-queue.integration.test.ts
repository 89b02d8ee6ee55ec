import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { openDatabase, type Sql } from '#lib/database/database'
import { migrate } from '#lib/schema/migrate'
import { silent } from '#test/support/rpc'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { type LogoutUsers, noteEndedSessions, queueLogouts } from './ended-sessions.ts'
import { giveLogoutBack, settleLogout, takeLogouts } from './logout-queue.ts'

let database: TestDatabase
let sql: Sql
beforeAll(async () => {
  database = await createDatabase()
  sql = openDatabase(database.urls.notifier, 'notifier', silent)
  await migrate(sql, new URL('../migrations/', import.meta.url), silent)
})
beforeEach(() => sql`truncate deliveries, logouts, ended_sessions`)
afterAll(async () => {
  await sql.end()
  await database.drop()
})

/** Queues logouts of sessions to applications, each written as `organization application session`. */
async function queue(...logouts: string[]) {
  const rows = logouts.map((text) => text.split(' ') as [string, string, string])
  const ended = rows.map(([, , session_id], at) => ({ session_id, event_id: `users-${at}`, user_id: 'u' }))
  await sql.begin((transaction) => noteEndedSessions(transaction, ended))
  const applications = rows.map(([organizationId, applicationId, sessionId]) => ({
    organizationId,
    applicationId,
    sessionId,
  }))
  const users = { listSessionApplications: async () => ({ applications }) } as unknown as LogoutUsers
  await Promise.all([1, 2, 3].map(() => queueLogouts(sql, users, '')))
}

const take = (most = 50) => takeLogouts(sql, most, 1000)
const nameOf = ({ applicationId, sessionId }: { applicationId: string; sessionId: string }) =>
  `${applicationId} ${sessionId}`

test('an end is queued once, however many ask, and taken once, however many take', async () => {
  await queue('o a s1', 'o b s2')
  expect(await sql`select from deliveries`).toHaveLength(2)
  expect(await sql`select from ended_sessions`).toHaveLength(0)
  const all = (await Promise.all([take(), take(), take()])).flat()
  expect(all.map(nameOf).toSorted()).toEqual(['a s1', 'b s2'])
  await queue('o a s1')
  expect(await sql`select from logouts`).toHaveLength(2)
})

test('no application and no organization takes all places', async () => {
  const many = Array.from({ length: 12 }, (_, at) => [`loud a${at} s${at}`, `loud a${at} t${at}`, `loud a${at} u${at}`])
  await queue(...many.flat(), 'quiet b z')
  const taken = await take()
  expect(taken.filter(({ applicationId }) => applicationId === 'b')).toHaveLength(1)
  expect(taken).toHaveLength(9)
  const counts = Map.groupBy(taken, ({ applicationId }) => applicationId)
  expect(Math.max(...[...counts.values()].map(({ length }) => length))).toBe(2)
  expect(await take()).toEqual([])
  await settleLogout(sql, taken[0]!, { state: 'sent', error: '' })
  expect(await take()).toHaveLength(1)
})

test('what is given back, or taken from one that is lost, comes again; the one that is lost records nothing', async () => {
  await queue('o a s')
  const [lost] = await take()
  await sql`update logouts set due_at = roster_now()`
  const [next] = await take()
  await settleLogout(sql, lost!, { state: 'sent', error: '' })
  await giveLogoutBack(sql, lost!)
  expect(await take()).toEqual([])
  await settleLogout(sql, next!, { state: 'queued', error: 'status 500', delay: 60_000 })
  expect(await sql`select state, attempts, error from deliveries`).toEqual([
    { state: 'queued', attempts: 1, error: 'status 500' },
  ])
  expect(await take()).toEqual([])
})

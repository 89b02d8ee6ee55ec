import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Refusal } from '#gen/roster/grants/v1/internal_service'
import { openDatabase, type Sql } from '#lib/database/database'
import { migrate } from '#lib/schema/migrate'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { silent } from '#test/support/counters'
import { model } from '../model.ts'
import { findRefusal, keepRefusals } from './refused-calls.ts'

let database: TestDatabase
let sql: Sql

beforeAll(async () => {
  database = await createDatabase()
  sql = openDatabase(database.urls.grants, 'grants', silent)
  await migrate(sql, new URL('../migrations/', import.meta.url), silent, model)
})
afterAll(async () => {
  await sql.end()
  await database.drop()
})

const refusal = (userId: string, requestId: string, more: Partial<Refusal> = {}): Refusal => ({
  userId,
  requestId,
  organizationId: 'home',
  method: 'roster.users.v1.UserService.SetEmail',
  projectId: '',
  time: new Date(Date.now() - 1000),
  ...more,
})
const find = (userId: string, requestId: string, organizationId?: string) =>
  findRefusal(sql, userId, requestId, organizationId).catch(({ reason }: { reason: string }) => reason)

test('a flood of one user keeps its newest hundred calls, and pushes out those of no other', async () => {
  await keepRefusals(sql, [refusal('quiet', 'only')])
  const now = Date.now()
  for (let page = 0; page < 5; page++) {
    const time = (n: number) => new Date(now - 60_000 + page * 1000 + n)
    await keepRefusals(
      sql,
      Array.from({ length: 100 }, (_, n) => refusal('loud', `${page}-${n}`, { time: time(n) })),
    )
  }
  const rows = await sql`select user_id, count(*)::int from refused_calls group by 1 order by 1`
  expect([...rows]).toEqual([
    { user_id: 'loud', count: 100 },
    { user_id: 'quiet', count: 1 },
  ])
  expect(await find('loud', '4-0')).toMatchObject({ requestId: '4-0' })
  expect(await find('loud', '3-99')).toBe('REFUSAL_NOT_FOUND')
  expect(await find('quiet', 'only')).toMatchObject({ userId: 'quiet' })
})

test('a request id belongs to its user and organization, and the newest call that has it counts', async () => {
  const time = (ago: number) => new Date(Date.now() - ago)
  await keepRefusals(sql, [refusal('first', 'id', { method: 'a', time: time(2000) })])
  await keepRefusals(sql, [
    refusal('second', 'id', { method: 'b' }),
    refusal('first', 'id', { method: 'c', time: time(1500) }),
    refusal('first', 'id', { method: 'd', time: time(500) }),
    refusal('first', 'id', { method: 'e', organizationId: 'abroad' }),
  ])
  expect(await find('first', 'id', 'home')).toMatchObject({ method: 'd' })
  expect(await find('first', 'id', 'abroad')).toMatchObject({ method: 'e' })
  expect(await find('second', 'id', 'abroad')).toBe('REFUSAL_NOT_FOUND')
  expect(await find('third', 'id')).toBe('REFUSAL_NOT_FOUND')
})

test('a call can be explained for an hour, and its time is never one to come', async () => {
  const hour = 3_600_000
  await keepRefusals(sql, [
    refusal('patient', 'just', { time: new Date(Date.now() - hour + 30_000) }),
    refusal('patient', 'late', { time: new Date(Date.now() - hour - 1000) }),
    refusal('patient', 'early', { time: new Date(Date.now() + hour) }),
  ])
  expect(await find('patient', 'just')).toMatchObject({ requestId: 'just' })
  expect(await find('patient', 'late')).toBe('REFUSAL_NOT_FOUND')
  const early = (await find('patient', 'early')) as Refusal
  expect(early.time!.getTime()).toBeLessThan(Date.now() + hour / 2)
})

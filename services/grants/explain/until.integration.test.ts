import { afterAll, beforeAll, expect, test } from 'vitest'
import { openDatabase, type Sql } from '#lib/eventstore/database'
import { migrate } from '#lib/eventstore/migrate'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { untilForeignTransactionsEnd } from '#test/support/foreign-transactions'
import { silent } from '#test/support/counters'
import { model } from '../model.ts'
import { happenedBy, readUntil } from './until.ts'

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

let number = 0
async function happens(): Promise<{ position: number; time: Date }> {
  const [row] = await sql<[{ position: string; time: Date }]>`
    insert into events (aggregate_type, aggregate_id, sequence, type, payload, organization_id, creator, request_id, created_at)
    values ('member', 'm', ${++number}, 'changed', '{}', 'home', '', '', date_trunc('milliseconds', clock_timestamp()))
    returning position::text, created_at as time
  `
  await untilForeignTransactionsEnd(sql)
  return { position: Number(row.position), time: row.time }
}
const atPosition = (value: number) => readUntil(sql, { $case: 'asOfPosition', value })
const atTime = (value: Date) => readUntil(sql, { $case: 'asOfTime', value })
async function happened(until: Awaited<ReturnType<typeof readUntil>>): Promise<number[]> {
  const rows = await sql<
    { position: string }[]
  >`select position::text from events e where ${happenedBy(sql, until)} order by 1`
  return rows.map(({ position }) => Number(position))
}

test('a position is behind its event, and one without an event behind the event before it', async () => {
  const [one, two] = [await happens(), await happens()]
  await sql`select nextval(pg_get_serial_sequence('events', 'position'))`
  const three = await happens()
  expect(await happened(await atPosition(one.position))).toEqual([one.position])
  expect(await happened(await atPosition(three.position - 1))).toEqual([one.position, two.position])
  expect(await happened(await atPosition(0))).toEqual([])
})

test('a time is behind the events of that very millisecond', async () => {
  const { position, time } = await happens()
  expect(await happened(await atTime(time))).toContain(position)
  expect(await happened(await atTime(new Date(time.getTime() - 1)))).not.toContain(position)
})

test('a position is now while an event may still come before it, and where there is none yet', async () => {
  const settled = await happens()
  await sql.begin(async (open) => {
    await open`select pg_current_xact_id()`
    const later = await happens()
    expect(await atPosition(later.position)).toBeUndefined()
    expect(await atPosition(settled.position)).toMatchObject({ place: { position: String(settled.position) } })
  })
  expect(await atPosition(settled.position + 1)).toMatchObject({ place: { position: String(settled.position + 1) } })
  expect(await atPosition(settled.position + 2)).toBeUndefined()
})

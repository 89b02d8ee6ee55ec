import { afterAll, beforeAll, expect, test } from 'vitest'
import { openDatabase, type Sql } from '#lib/database/database'
import { migrate } from '#lib/schema/migrate'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { silent } from '#test/support/counters'
import { model } from '../model.ts'
import { beginning, findPlace, happenedBy, type Until, untilTime } from './until.ts'

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
  return { position: Number(row.position), time: row.time }
}
const atPosition = async (position: number) => (await findPlace(sql, position))?.until
async function happened(until: Until | undefined): Promise<number[]> {
  const rows = await sql<
    { position: string }[]
  >`select position::text from events e where ${happenedBy(sql, until)} order by 1`
  return rows.map(({ position }) => Number(position))
}

test('a position is behind its event, and one without an event is none', async () => {
  const [one, two] = [await happens(), await happens()]
  await sql`select nextval(pg_get_serial_sequence('events', 'position'))`
  const three = await happens()
  expect(await happened(await atPosition(one.position))).toEqual([one.position])
  expect(await happened(await atPosition(two.position))).toEqual([one.position, two.position])
  for (const position of [0, three.position - 1, three.position + 1, Number.MAX_SAFE_INTEGER])
    expect(await findPlace(sql, position)).toBeUndefined()
  expect(await happened(beginning)).toEqual([])
})

test('a time is behind the events of that very millisecond, and one that is to come is now', async () => {
  const { position, time } = await happens()
  expect(await happened(await untilTime(sql, time))).toContain(position)
  expect(await happened(await untilTime(sql, new Date(time.getTime() - 1)))).not.toContain(position)
  expect(await untilTime(sql, new Date(Date.now() + 60_000))).toBeUndefined()
})

test('a position is behind its event alone, also while others write', async () => {
  const one = await happens()
  await sql.begin(async (open) => {
    await open`select pg_current_xact_id()`
    const [two, three] = [await happens(), await happens()]
    expect(await happened(await atPosition(two.position))).toEqual(expect.arrayContaining([one.position, two.position]))
    expect(await happened(await atPosition(two.position))).not.toContain(three.position)
  })
})

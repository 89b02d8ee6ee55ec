import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { watchPortions } from '#test/support/portions'
import { silent } from '#test/support/rpc'
import { openDatabase, type Sql } from './database.ts'
import { deleteInPortions } from './delete-in-portions.ts'

let database: TestDatabase
let sql: Sql

beforeAll(async () => {
  database = await createDatabase()
  sql = openDatabase(database.urls.users, 'users', silent)
  await sql`create table things (id int primary key, over boolean not null)`
})
beforeEach(() => sql`truncate things`)
afterAll(async () => {
  await sql?.end()
  await database?.drop()
})

const ids = async () => (await sql<{ id: number }[]>`select id from things order by id`).map(({ id }) => id)

test('all rows that a condition names go, at most a thousand in a statement, and no others', async () => {
  const most = await watchPortions(sql, 'things')
  await sql`insert into things select n, n <> 7 from generate_series(1, 2500) n`
  await deleteInPortions(sql, 'things', sql`over`)
  expect(await ids()).toEqual([7])
  expect(await most()).toBe(1000)
})

test('a row that changes after it was found stays', async () => {
  await sql`insert into things values (1, true), (2, true)`
  const other = await sql.reserve()
  try {
    await other`begin`
    await other`update things set over = false where id = 1`
    const deleting = deleteInPortions(sql, 'things', sql`over`)
    await vi.waitFor(async () => {
      const waiting = await sql`
        select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
      `
      expect(waiting).toHaveLength(1)
    })
    await other`commit`
    await deleting
  } finally {
    other.release()
  }
  expect(await ids()).toEqual([1])
})

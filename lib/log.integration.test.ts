import { afterAll, beforeAll, expect, test } from 'vitest'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { openDatabase, type Sql } from './database/database.ts'
import { keepingLog, silent } from '#test/support/rpc'

let database: TestDatabase
let sql: Sql

beforeAll(async () => {
  database = await createDatabase()
  sql = openDatabase(database.urls.users, 'test', silent)
  await sql`create table people (email text unique check (email <> 'refused'), age int)`
  await sql`insert into people values ('ada@example.com')`
})

afterAll(async () => {
  await sql?.end({ timeout: 5 })
  await database?.drop()
})

const value = 'ada@example.com'
const failing: Record<string, () => PromiseLike<unknown>> = {
  'a key that is there already': () => sql`insert into people values (${value})`,
  'a row that a constraint refuses': () => sql`insert into people select 'refused' from people where email = ${value}`,
  'JSON that PostgreSQL cannot hold': () => sql`select ${`{"email": "${value} \\u0000"}`}::text::jsonb`,
  'a statement within a function': () =>
    sql.unsafe(`do $$ begin execute 'select 1 / 0 from people where email = ''${value}'''; end $$`),
}

test.each(Object.keys(failing))('the log reports an error of PostgreSQL without any value: %s', async (name) => {
  const error = await failing[name]!().then(
    () => expect.fail('it did not fail'),
    (caught: Error & { code: string }) => caught,
  )
  expect(JSON.stringify({ ...error })).toMatch(/ada@example.com|refused/)
  const { log, lines } = keepingLog()
  log.error({ err: error }, 'failed')
  log.error({ err: new AggregateError([error], 'several failed') }, 'failed')
  log.error(error)
  expect(lines).toHaveLength(3)
  for (const line of lines) {
    expect(line).toContain(`"code":"${error.code}"`)
    expect(line).not.toMatch(/ada@example.com|refused/)
  }
})

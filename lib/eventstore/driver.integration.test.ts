import { afterAll, beforeAll, expect, test } from 'vitest'
import { createDatabase, type TestDatabase } from '../../test/infra-database.ts'
import { createLog } from '../log.ts'
import { isConnectionError, openDatabase } from './database.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await createDatabase()
})
afterAll(() => database.drop())

// patches/postgres+*.patch: without it the driver writes to a socket that is gone, where nothing can catch the TypeError.
test('a statement on a connection that PostgreSQL ended is refused, and the process lives', async () => {
  const sql = openDatabase(database.urls.users, 'test', createLog('test', 'silent'))
  const admin = openDatabase(database.adminUrl, 'admin', createLog('test', 'silent'))
  const connection = await sql.reserve()
  const [row] = await connection<{ pid: number }[]>`select pg_backend_pid() as pid`
  const ended = connection`select pg_sleep(60)`.then(
    () => undefined,
    (error: unknown) => error,
  )
  await admin`select pg_terminate_backend(${row!.pid})`
  expect(await ended).toBeInstanceOf(Error)
  const refused = await connection`select 1`.then(
    () => undefined,
    (error: unknown) => error,
  )
  expect(isConnectionError(refused)).toBe(true)
  expect(await sql`select 1 as one`).toMatchObject([{ one: 1 }])
  await Promise.all([sql.end({ timeout: 1 }), admin.end()])
})

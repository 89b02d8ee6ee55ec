import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { createLog } from '../log.ts'
import { layCable } from '#test/support/cable'
import { isConnectionError, openDatabase, type Sql } from './database.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await createDatabase()
})
afterAll(() => database.drop())

// These tests are about patches/postgres+*.patch.

// Without the patch, the driver writes to a socket that is gone, and nothing can catch the TypeError.
test('a statement on a connection that PostgreSQL ended is refused, and the process survives', async () => {
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

const sleep = 'select pg_sleep(60)'
const begun: Record<string, (sql: Sql) => PromiseLike<unknown>> = {
  'a statement': (sql) => sql.unsafe(sleep),
  'a transaction whose statements are sent together': (sql) =>
    sql.begin((transaction) => [transaction.unsafe(sleep), transaction`select 1`]),
  'a transaction that waits for one statement': (sql) =>
    sql.begin(async (transaction) => void (await transaction.unsafe(sleep))),
}

/** A way to the database that can be cut, and one that stays open for looking. */
async function openByCable(resetsAt?: (sent: Buffer) => boolean) {
  const cable = await layCable(database.urls.users, resetsAt)
  const log = createLog('test', 'silent')
  const [sql, admin] = [openDatabase(cable.url, 'test', log), openDatabase(database.adminUrl, 'admin', log)]
  onTestFinished(async () => {
    // A sleeping statement does not notice that its client is gone.
    await admin`select pg_terminate_backend(pid) from pg_stat_activity where query = ${sleep}`
    await Promise.all([sql.end({ timeout: 1 }), admin.end()])
    await cable.stop()
  })
  const reset = () => {
    cable.cut()
    cable.mend()
  }
  return { sql, admin, reset }
}

const numbers = (length: number) => Array.from({ length }, (_, n) => n)

/** Each of many transactions gets its own answer. */
async function works(sql: Sql) {
  const ask = async (n: number) => {
    const question = () => sql.begin((transaction) => [transaction`select ${n}::int as n`])
    // The pool may see a reset only now.
    for (let tries = 0; tries < 20; tries++)
      try {
        return await question()
      } catch (error) {
        if (!isConnectionError(error)) throw error
      }
    return question()
  }
  const answers = await Promise.all(numbers(50).map(ask))
  expect(answers.map((results) => results[0]![0])).toEqual(numbers(50).map((n) => ({ n })))
}

// Without the patch, statements sent between the error and the end of a connection count as sent on the next
// connection.
test.each(Object.keys(begun))(
  'after %s whose connection is reset, nothing waits for ever and every answer reaches its own caller',
  async (name) => {
    const { sql, admin, reset } = await openByCable()
    // As many as there are connections. Each is followed by another as soon as it fails.
    const begin = numbers(8).map(async () => {
      await expect(begun[name]!(sql)).rejects.toSatisfy(isConnectionError)
      await sql`select 1`.catch((error: unknown) => expect(error).toSatisfy(isConnectionError))
    })
    await vi.waitFor(async () => {
      expect(await admin`select from pg_stat_activity where query = ${sleep}`).toHaveLength(8)
    })
    reset()
    await Promise.all(begin)
    await works(sql)
  },
)

// Without the patch, the driver sends the rest of a transaction on the next use of the connection, even its rollback.
test('a transaction that lost its connection does not affect the next transaction on it', async () => {
  const { sql, reset } = await openByCable()
  await sql`create table kept (n int)`
  const [inside, go, sent] = numbers(3).map(() => Promise.withResolvers<void>())
  let late: Promise<unknown> | undefined
  const lost = sql.begin(async (transaction) => {
    await transaction`select 1`
    inside!.resolve()
    await go!.promise
    late = transaction`insert into kept values (0)`.catch((error: unknown) => error)
    sent!.resolve()
    throw new Error('and so it is rolled back')
  })
  await inside!.promise
  reset()
  await expect(lost).rejects.toSatisfy(isConnectionError)
  // As many as there are connections.
  const others = numbers(8).map((n) =>
    sql.begin(async (transaction) => {
      await transaction`insert into kept values (${n + 1})`
      go!.resolve()
      await sent!.promise
      await late
      await transaction`select 1`
    }),
  )
  await Promise.all(others)
  expect(await late).toSatisfy(isConnectionError)
  expect([...(await sql`select n from kept order by n`)]).toEqual(numbers(8).map((n) => ({ n: n + 1 })))
})

// Each connection begins with the driver's own query for types. Without the patch, nothing can catch its failure.
test('a connection that is reset while it opens does not end the process', async () => {
  const { sql, reset } = await openByCable()
  for (const delay of numbers(40)) {
    const work = numbers(8).map(() =>
      sql`select 1`.catch((error: unknown) => expect(error).toSatisfy(isConnectionError)),
    )
    await setTimeout(delay / 4)
    reset()
    await Promise.all(work)
  }
  await works(sql)
})

// Before it runs a statement, the driver asks whether the server takes writes. Without the patch, nothing can catch its
// failure, and the first statement on the next connection gets a TypeError.
test('a connection that is reset at the first question of the driver does not affect the next one', async () => {
  const asked: boolean[] = []
  const isFirst = (sent: Buffer) => sent.includes('pg_is_in_recovery')
  const { sql } = await openByCable((sent) => isFirst(sent) && asked.push(true) <= 8)
  // Node ends a connection before it resets it. A driver that sees only the end connects again by itself.
  while (asked.length < 8) await sql`select 1`.catch((error: unknown) => expect(error).toSatisfy(isConnectionError))
  await works(sql)
  expect(asked.length).toBeGreaterThan(8)
})

// Without the patch, the rows of the next result are counted on from there, so that the result starts with holes.
test('a statement that fails after its first rows does not affect the next one on its connection', async () => {
  const sql = openDatabase(database.urls.users, 'test', createLog('test', 'silent'))
  const connection = await sql.reserve()
  const failed = connection`select repeat('x', 10000), 1 / (100 - i) from generate_series(1, 200) as i`
  await expect(failed).rejects.toThrow('division by zero')
  expect([...(await connection`select 1 as one`)]).toEqual([{ one: 1 }])
  connection.release()
  await sql.end()
})

test('the pool reports how many of its connections are used, and how many statements wait', async () => {
  const sql = openDatabase(database.urls.users, 'test', createLog('test', 'silent'))
  const { load } = sql as Sql & { load(): object }
  const { promise: over, resolve: end } = Promise.withResolvers<void>()
  const transactions = Array.from({ length: sql.options.max }, () => sql.begin(() => over))
  await vi.waitFor(() => expect(load()).toEqual({ idle: 0, used: sql.options.max, waiting: 0 }))
  const waiting = sql`select 1`.execute()
  await vi.waitFor(() => expect(load()).toMatchObject({ waiting: 1 }))
  end()
  await Promise.all([...transactions, waiting])
  expect(load()).toEqual({ idle: sql.options.max, used: 0, waiting: 0 })
  await sql.end({ timeout: 1 })
})

// PostgreSQL forgets the plans, as a migration beside it makes it do. Without the patch, the driver repeats a statement
// in two messages, and what others send in between is answered to it.
test('statements that PostgreSQL no longer knows are repeated, and every answer reaches its own caller', async () => {
  const sql = openDatabase(database.urls.users, 'test', createLog('test', 'silent'))
  const ask = (n: number) =>
    sql<{ n: number; b: Buffer }[]>`select ${n}::int as n, ${Buffer.from([n % 256])}::bytea as b`
  const askOther = (n: number) =>
    sql<{ n: number; b: Buffer }[]>`select ${n}::int as n, ${Buffer.from([n % 256])}::bytea as b, 1`
  for (let round = 0; round < 5; round++) {
    const answers = numbers(300).map(async (n) => {
      if (n === 100) await Promise.all(numbers(40).map(() => sql.unsafe('deallocate all')))
      const [row] = await (n % 2 ? ask(n) : askOther(n))
      return [row?.n, row?.b?.[0]]
    })
    expect(await Promise.all(answers)).toEqual(numbers(300).map((n) => [n, n % 256]))
  }
  await sql.end({ timeout: 1 })
}, 30_000)

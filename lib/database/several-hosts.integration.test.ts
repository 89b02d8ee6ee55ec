import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import postgres from 'postgres'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { alterAnswers } from '#test/support/altered-answers'
import { silent } from '#test/support/counters'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { keepingLog } from '#test/support/rpc'
import { createWaits } from '../health/waits.ts'
import { isConnectionError, openDatabase } from './database.ts'
import { watchSession } from './watch-session.ts'

let database: TestDatabase
beforeAll(async () => void (database = await createDatabase()))
afterAll(() => database.drop())

const dead = '127.0.0.1:1'
/** The URL with these hosts in place of its own. */
const at = (hosts: string[], more = '') => {
  const { username, password, pathname } = new URL(database.urls.users)
  return `postgres://${username}:${password}@${hosts.join(',')}${pathname}${more}`
}
const open = (url: string) => {
  const sql = openDatabase(url, 'test', silent)
  onTestFinished(() => sql.end({ timeout: 1 }))
  return sql
}
const own = () => new URL(database.urls.users).host

async function silentHost() {
  const server = createServer(() => {})
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

/**
 * A server that is a standby. What it says by itself when a session begins is what PgBouncer remembers of another time:
 * that it is none.
 */
async function standby() {
  const { url, alter } = await alterAnswers(database.urls.users)
  const column = 'pg_is_in_recovery'
  alter((answer) => (answer.includes(column) ? answer.replace('\0\x01\0\0\0\x01f', '\0\x01\0\0\0\x01t') : answer))
  return { host: new URL(url).host, promote: () => alter((answer) => answer) }
}

test('where a host is dead or silent, the next one answers', async () => {
  const sql = open(at([dead, await silentHost(), own()]))
  const answers = await Promise.all(
    Array.from({ length: 8 }, async (_, n) => (await sql`select ${n}::int as n`)[0]!['n']),
  )
  expect(answers).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
}, 30_000)

test('where a host refuses, as one that starts or has no such database yet, the next one answers', async () => {
  for (const code of ['57P03', '3D000']) {
    const refusal = Buffer.from(`SFATAL\0C${code}\0Mno\0\0`, 'latin1')
    const size = Buffer.alloc(4)
    size.writeInt32BE(refusal.length + 4)
    const server = createServer((socket) => {
      socket.once('data', () => socket.end(Buffer.concat([Buffer.from('E'), size, refusal])))
      socket.on('error', () => {})
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => void server.close())
    const { port } = server.address() as AddressInfo
    expect(await open(at([`127.0.0.1:${port}`, own()]))`select 1 as one`).toEqual([{ one: 1 }])
  }
})

test('where no host can be reached, each is tried once, and the statement fails', async () => {
  const began = Date.now()
  const failed = await open(at([dead, await silentHost()]))`select 1`.catch((error: unknown) => error)
  expect(failed).toSatisfy(isConnectionError)
  expect(Date.now() - began).toBeLessThan(10_000)
}, 30_000)

test.each(['', '?target_session_attrs=read-write', '?target_session_attrs=any'])(
  'a service never takes a standby, also with %j, and goes on once it is promoted',
  async (more) => {
    const { host, promote } = await standby()
    const alone = open(at([host], more))
    await expect(alone`select 1`).rejects.toSatisfy(isConnectionError)
    expect(await open(at([host, own()], more))`select 1 as one`).toEqual([{ one: 1 }])
    promote()
    expect(await alone`select 1 as one`).toEqual([{ one: 1 }])
  },
)

test('a first statement whose connection breaks fails, also with several hosts', async () => {
  const sql = open(at([own(), dead]))
  const admin = postgres(database.adminUrl, { max: 1 })
  const sleeping = sql`select pg_sleep(20)`.catch((error: unknown) => error)
  await expect
    .poll(
      async () =>
        (
          await admin`select pg_terminate_backend(pid) from pg_stat_activity where query like 'select pg_sleep(20)%' and usename = 'roster_users'`
        ).length,
    )
    .toBe(1)
  expect(await sleeping).toSatisfy(isConnectionError)
  await admin.end()
})

test('while two servers take writes every call is refused, readiness names the cause, and two hosts may lead to one server', async () => {
  const other = await alterAnswers(database.urls.users)
  const { log, lines } = keepingLog()
  const waits = createWaits(log)
  const watch = watchSession({
    url: at([dead, own(), new URL(other.url).host]),
    service: 'users',
    log,
    waits,
    every: 20,
  })
  onTestFinished(() => watch.stop())
  const connections = other.connections()
  await expect.poll(() => other.connections()).toBeGreaterThan(connections + 2)
  expect(watch.refusal()).toBeUndefined()
  // The second of its start is another one.
  other.alter((answer) => answer.replace(/(\d{9})\d(\.\d{6})/, (_, head, tail) => `${head}x${tail}`))
  await expect.poll(() => watch.refusal()).toMatchObject({ reason: 'STORE_UNAVAILABLE' })
  expect(String(waits)).toContain('SinglePrimary')
  other.alter((answer) => answer)
  await expect.poll(() => watch.refusal()).toBeUndefined()
  expect(String(waits)).toBe('')
  const places = [own(), new URL(other.url).host].join(' and at ')
  expect(lines.join('')).toContain(`PostgreSQL at ${places} takes writes, and only one may`)
})

import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import postgres, { type Sql } from 'postgres'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { startServers, type Servers } from './local/servers.ts'
import { provision } from './provision.ts'

const elsewhere = { NATS_URL: 'nats://none', REDIS_URL: 'redis://none', SMTP_URL: 'smtp://none' }
const passwords = { users: 'users', grants: 'grants', idp: 'idp', notifier: 'notifier' }
let servers: Servers
let urls: Awaited<ReturnType<typeof provision>>

beforeAll(async () => {
  servers = await startServers({ ephemeral: true, ports: 'random', env: elsewhere })
  urls = await provision(servers.databaseUrl, passwords)
}, 60_000)
afterAll(() => servers.stop())

const page = readFileSync(new URL('../docs/threat-model.md', import.meta.url), 'utf8')
const documented = /^ {4}(select usename.*\n.*);$/m.exec(page)![1]!
// The lock of an outbox, as the captured service would take it.
const ofSister = `select pg_try_advisory_lock(hashtextextended('roster_users', 7265002)) as free`

test('the statement of docs/threat-model.md finds a session that holds the lock of a sister, and can end it', async () => {
  const [captured, sister, operator] = [open(urls.idp), open(urls.users), open(servers.databaseUrl)]
  await captured.unsafe(ofSister)
  expect(await isFree(sister)).toBe(false)

  const found = await operator.unsafe(documented)
  expect(found).toContainEqual({ usename: 'roster_idp', pid: await pidOf(captured), locktype: 'advisory', count: '1' })
  await operator`select pg_terminate_backend(${await pidOf(captured)})`
  await vi.waitFor(async () => expect(await isFree(sister)).toBe(true))
})

test('where the memory of locks is used up, no role can connect until the process of that session is ended', async () => {
  const captured = open(urls.idp)
  const pid = await pidOf(captured)
  async function takeAll() {
    for (let n = 0; n < 200; n++)
      await captured`select count(pg_advisory_lock(${n}, i)) from generate_series(1, 1000) i`
  }
  await expect(takeAll()).rejects.toMatchObject({ code: '53200' })
  await expect(pidOf(open(servers.databaseUrl))).rejects.toMatchObject({ code: '53200' })

  expect(commandOf(pid)).toMatch(/^postgres: roster_idp /)
  process.kill(pid, 'SIGTERM')
  await vi.waitFor(() => pidOf(open(servers.databaseUrl)))
})

// As `ps` shows it, which a small machine does not have.
const commandOf = (pid: number) =>
  existsSync('/proc/self/cmdline')
    ? readFileSync(`/proc/${pid}/cmdline`, 'utf8')
    : execFileSync('ps', ['-o', 'args=', '-p', String(pid)], { encoding: 'utf8' })
const isFree = async (sql: Sql) => (await sql.unsafe(ofSister))[0]!['free'] as boolean
const pidOf = async (sql: Sql) => (await sql`select pg_backend_pid() as pid`)[0]!['pid'] as number

function open(url: string): Sql {
  const sql = postgres(url, { max: 1, fetch_types: false, onnotice: () => {} })
  onTestFinished(() => sql.end({ timeout: 1 }))
  return sql
}

import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { AckPolicy, connect } from 'nats'
import postgres from 'postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startServers, type Servers } from './servers.ts'

const folder = mkdtempSync(join(tmpdir(), 'roster-servers-test-'))
chmodSync(folder, 0o711)
const start = () => startServers({ dataDir: folder, ephemeral: true, ports: 'random', env: {} })
let servers: Servers

beforeAll(async () => {
  servers = await start()
}, 60_000)
afterAll(async () => {
  await servers.stop()
  rmSync(folder, { recursive: true, force: true })
})

test(
  'what PostgreSQL, NATS and Redis acknowledged is there after a kill -9 and after a second start',
  { timeout: 60_000 },
  async () => {
    await write()
    const before = servers
    for (const server of [servers.postgres!, servers.nats!, servers.redis!]) {
      const { pid } = server
      await server.kill()
      expect(server.pid).toBeUndefined()
      await server.restart()
      expect(server.pid).not.toBe(pid)
    }
    expect(await read()).toEqual({ postgres: 1, nats: 1, redis: 'kept' })
    await servers.stop()
    servers = await start()
    expect(servers.home.secret('postgres')).toBe(before.home.secret('postgres'))
    expect(await read()).toEqual({ postgres: 1, nats: 1, redis: 'kept' })
  },
)

test('passwords lie in a file that only its owner can read, and not in a command line', () => {
  const secrets = join(folder, 'secrets.json')
  expect(statSync(secrets).mode & 0o777).toBe(0o600)
  const passwords = Object.values(JSON.parse(readFileSync(secrets, 'utf8')) as Record<string, string>)
  for (const server of [servers.postgres!, servers.nats!, servers.redis!]) {
    const commandLine = readFileSync(`/proc/${server.pid}/cmdline`, 'utf8')
    for (const password of passwords) expect(commandLine).not.toContain(password)
  }
})

// The event store names a taken name in the detail of an error, and a user name may be an address.
test('the log of PostgreSQL shows an error without its detail', async () => {
  const sql = postgres(servers.databaseUrl, { database: 'postgres', max: 1 })
  const failing = sql.unsafe(`do $$ begin raise 'cannot stand' using detail = 'ada' || '@example.com'; end $$`)
  await expect(failing).rejects.toMatchObject({ detail: 'ada@example.com' })
  await sql.end()
  const log = () => readFileSync(join(folder, 'log', 'postgres.log'), 'utf8')
  await expect.poll(log).toContain('cannot stand')
  expect(log()).not.toContain('ada@example.com')
})

test('a server without the right password lets no one in', async () => {
  const { port } = new URL(servers.redisUrl)
  const redis = new Redis({ port: Number(port), lazyConnect: true, retryStrategy: () => null })
  redis.on('error', () => {})
  await redis.connect().catch(() => {})
  await expect(redis.get('x')).rejects.toThrow(/NOAUTH|closed/)
  redis.disconnect()
  const sql = postgres(servers.databaseUrl.replace(/:[^:@]*@/, ':wrong@'), { max: 1 })
  await expect(sql`select 1`).rejects.toMatchObject({ code: '28P01' })
  await expect(connect({ servers: new URL(servers.natsUrl.users).host })).rejects.toThrow(/Authorization Violation/)
})

test('a server that the environment names is not started', async () => {
  const named = { DATABASE_URL: 'postgres://db/x', REDIS_URL: 'redis://r', SMTP_URL: 'smtp://m', NATS_URL: 'nats://n' }
  const given = await startServers({ ephemeral: true, env: named })
  expect([given.postgres, given.redis, given.nats, given.mailbox]).toEqual([undefined, undefined, undefined, undefined])
  expect(given).toMatchObject({ databaseUrl: 'postgres://db/x', redisUrl: 'redis://r', smtpUrl: 'smtp://m' })
  expect(given.natsUrl.users).toBe('nats://n')
  await given.stop()
})

async function write(): Promise<void> {
  const sql = postgres(postgresUrl(), { max: 1 })
  await sql`create table kept as select 1 as value`
  const redis = new Redis(servers.redisUrl)
  await redis.set('key', 'kept')
  const nats = await connectAdmin()
  const manager = await nats.jetstreamManager()
  await manager.streams.add({ name: 'kept', subjects: ['kept.>'] })
  await manager.consumers.add('kept', { durable_name: 'reader', ack_policy: AckPolicy.Explicit })
  await nats.jetstream().publish('kept.a', 'one')
  await Promise.all([sql.end(), redis.quit(), nats.close()])
}

async function read(): Promise<unknown> {
  const sql = postgres(postgresUrl(), { max: 1 })
  const redis = new Redis(servers.redisUrl)
  const nats = await connectAdmin()
  const info = await (await nats.jetstreamManager()).streams.info('kept')
  const [row] = await sql`select value from kept`
  const found = { postgres: row?.['value'] as number, nats: info.state.messages, redis: await redis.get('key') }
  await Promise.all([sql.end(), redis.quit(), nats.close()])
  return found
}

function postgresUrl(): string {
  return servers.databaseUrl.replace(/roster$/, 'postgres')
}

function connectAdmin() {
  const url = new URL(servers.natsUrl.admin)
  return connect({ servers: url.host, user: url.username, pass: url.password })
}

import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import postgres from 'postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Servers } from '../deploy/local/servers.ts'
import { roster } from '../lib/health/release.ts'
import { connectNats } from '#lib/nats/connect-nats'
import { testGatewayKeys } from './support/caller-keys.ts'
import { createDatabase, type TestDatabase } from './support/database.ts'
import { startOwnNats } from './support/publishing.ts'
import { silent } from './support/rpc.ts'

let servers: Servers
let database: TestDatabase

beforeAll(async () => {
  ;[servers, database] = await Promise.all([startOwnNats(), createDatabase()])
})
afterAll(async () => {
  await Promise.all([database.drop(), servers.stop()])
})

const storing = ['users', 'grants', 'idp', 'notifier'] as const

/** Starts the service, and returns its exit code and the fatal lines of its log. */
async function start(name: (typeof storing)[number] | 'gateway'): Promise<[unknown, string[]]> {
  const env = {
    PATH: process.env['PATH'],
    NATS_URL: servers.natsUrl[name],
    ROSTER_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    ROSTER_CALLER_KEY: randomBytes(32).toString('base64'),
    ROSTER_CALLER_KEYS: testGatewayKeys,
    PORT: '0',
    REDIS_URL: 'redis://127.0.0.1:1',
    SMTP_URL: 'smtp://127.0.0.1:1',
    ...(name !== 'gateway' && { DATABASE_URL: database.urls[name] }),
  }
  const child = spawn(process.execPath, [`services/${name}/main.ts`], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  const [said, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')])
  const lines = said.split('\n').filter((line) => line.includes('"level":60'))
  return [code, lines.map((line) => (JSON.parse(line) as { err: { message: string } }).err.message)]
}

const sentence = (because: string) =>
  `Roster ${roster.version} cannot start, because ${because} 99.1, which is more than one release away: see docs/upgrading.md.`

test.each(storing)('%s ends with one sentence where its database is two releases ahead', async (name) => {
  const sql = postgres(database.urls[name], { max: 1 })
  await sql`create table migrations (name text primary key, applied_at timestamptz not null default now())`
  await sql`insert into migrations (name) values (${`release 99.0 after ${roster.release}`}), ('release 99.1 after 99.0')`
  expect(await start(name)).toEqual([1, [sentence('its database was upgraded by')]])
  const tables = await sql`select tablename from pg_tables where schemaname = current_schema()`
  expect(tables).toEqual([{ tablename: 'migrations' }])
  await sql.end()
})

test('the gateway ends with one sentence where a service is two releases ahead', async () => {
  const nats = await connectNats(servers.natsUrl.grants, 'grants', silent)
  nats.connection.subscribe('$SRV.INFO.grants', {
    callback: (_, message) =>
      void message.respond(
        JSON.stringify({ name: 'grants', id: 'x', version: '99.1.0', metadata: { former: '99.0' } }),
      ),
  })
  await nats.connection.flush()
  expect(await start('gateway')).toEqual([1, [sentence('grants is')]])
  await nats.connection.close()
})

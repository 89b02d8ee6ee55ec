import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import postgres from 'postgres'
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { freePort } from '../deploy/local/ports.ts'
import type { Servers } from '../deploy/local/servers.ts'
import { type Cable, layCable } from './support/cable.ts'
import { startOwnNats } from './support/publishing.ts'
import { connectNats, type Nats } from '#lib/nats/connect-nats'
import { silent } from './support/rpc.ts'
import { createDatabase, type TestDatabase } from './support/database.ts'

let servers: Servers
let database: TestDatabase
let cable: Cable & { url: string }
let nats: Nats
let child: ChildProcess | undefined

beforeAll(async () => {
  ;[servers, database] = await Promise.all([startOwnNats(), createDatabase()])
  cable = await layCable(database.adminUrl)
  nats = await connectNats(servers.natsUrl.admin, 'admin', silent)
})
afterEach(() => void child?.kill('SIGKILL'))
afterAll(async () => {
  await nats.connection.close()
  await cable.stop()
  await Promise.all([database.drop(), servers.stop()])
})

type Name = 'users' | 'grants' | 'idp'

function start(name: Name, databaseUrl = through(name), more = {}) {
  const env = {
    ...more,
    PATH: process.env['PATH'],
    DATABASE_URL: databaseUrl,
    NATS_URL: servers.natsUrl[name],
    ROSTER_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    ROSTER_CALLER_KEY: randomBytes(32).toString('base64'),
    ROSTER_ADMIN_TOKEN_FILE: join(servers.home.dir, 'admin-token'),
  }
  child = spawn(process.execPath, [`services/${name}/main.ts`], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  return child
}

function through(name: Name): string {
  const [url, way] = [new URL(database.urls[name]), new URL(cable.url)]
  url.host = way.host
  return url.href
}

async function says({ stdout }: ChildProcess, sentence: string) {
  for await (const line of stdout!.iterator({ destroyOnReturn: false })) if (String(line).includes(sentence)) return
  expect.fail(`it never said "${sentence}"`)
}

// What the check of a container says, and nothing where all is well.
async function healthOf(name: Name, natsUrl = servers.natsUrl[name]): Promise<string> {
  const env = { PATH: process.env['PATH'], NATS_URL: natsUrl }
  const check = spawn(process.execPath, ['deploy/healthcheck.ts', name], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  const [said, [code]] = await Promise.all([text(check.stdout), once(check, 'exit')])
  expect(code).toBe(said === '' ? 0 : 1)
  return said.trim()
}

// The check of docker-compose.yml, with another file.
function composeCheck(file: string): string {
  const compose = readFileSync(new URL('../docker-compose.yml', import.meta.url), 'utf8')
  return /CMD-SHELL\n\s+- (.+)/
    .exec(compose)![1]!
    .replaceAll('$$', () => '$')
    .replaceAll('/tmp/health', file)
}

const answers = (name: Name) => () => nats.connection.request(`$SRV.PING.${name}`, '', { timeout: 500 })

test('the check of a container whose service does not listen says so', async () => {
  expect(await healthOf('users')).toBe('no users of this host answers over NATS')
})

describe.each(['users', 'grants', 'idp'] as const)('%s that starts without PostgreSQL', (name) => {
  test('waits, and answers once PostgreSQL is there', async () => {
    cable.cut()
    const [port, file] = [await freePort(0), join(servers.home.dir, `health-${name}`)]
    const waiting = start(name, undefined, { HEALTH_PORT: String(port), HEALTH_FILE: file })
    await says(waiting, 'waiting for PostgreSQL')
    const starts = expect.stringMatching(new RegExp(`^${name} starts and waits for PostgreSQL 20[-0-9T:.]+Z$`))
    const atPort = async (path: string) => {
      const answer = await fetch(`http://127.0.0.1:${port}${path}`)
      return [answer.status, ((await answer.json()) as { status: string }).status]
    }
    const inCompose = () => spawnSync('sh', ['-c', composeCheck(file)], { encoding: 'utf8' })
    expect(await atPort('/healthz')).toEqual([200, 'ok'])
    expect(await atPort('/readyz')).toEqual([503, starts])
    await expect.poll(() => inCompose().stdout.trim(), { timeout: 10_000 }).toEqual(starts)
    expect(inCompose().status).toBe(1)
    expect(await healthOf(name)).toMatch(new RegExp(`^${name} starts and waits for PostgreSQL since 20[-0-9T:.]+Z$`))
    cable.mend()
    await vi.waitFor(answers(name), { timeout: 30_000 })
    expect(await healthOf(name)).toBe('')
    await expect.poll(() => atPort('/readyz'), { timeout: 10_000 }).toEqual([200, 'ok'])
    await expect.poll(() => inCompose().status, { timeout: 10_000 }).toBe(0)
    expect(waiting.exitCode).toBeNull()
    // A process that hangs or is dead renews nothing.
    waiting.kill('SIGKILL')
    await once(waiting, 'exit')
    const before = Date.now() / 1000 - 20
    utimesSync(file, before, before)
    expect(inCompose().status).toBe(1)
  })

  test('ends at once on a signal', async () => {
    cable.cut()
    const waiting = start(name)
    await says(waiting, 'waiting for PostgreSQL')
    waiting.kill('SIGTERM')
    const since = Date.now()
    expect(await once(waiting, 'exit')).toEqual([0, null])
    expect(Date.now() - since).toBeLessThan(5000)
    cable.mend()
  })

  test('ends where waiting would not help', async () => {
    const url = new URL(through(name))
    url.password = 'wrong'
    const [said, exit] = await Promise.all([text(start(name, url.href).stdout!), once(child!, 'exit')])
    expect(exit).toEqual([1, null])
    expect(said).toContain('password authentication failed')
  })
})

test('users that waits for the lock of its migrations says once who holds it, and starts after that', async () => {
  const own = await createDatabase()
  onTestFinished(own.drop)
  const holder = postgres(own.adminUrl, { max: 1, connection: { application_name: 'abandoned' } })
  const [held] = await holder<{ pid: number; role: string }[]>`
    select pg_backend_pid() as pid, current_user::text as role,
      pg_advisory_lock(hashtextextended('roster_users', 7265001))
  `
  const waiting = start('users', own.urls.users)
  await says(waiting, `the migrations wait for a lock that ${held!.role} (process ${held!.pid}, abandoned) holds`)
  expect(await healthOf('users')).toMatch(/^users starts and waits for PostgreSQL since 20[-0-9T:.]+Z$/)
  const rest = text(waiting.stdout!)
  await holder.end()
  await vi.waitFor(answers('users'), { timeout: 30_000 })
  expect(await healthOf('users')).toBe('')
  waiting.kill('SIGTERM')
  expect((await rest).match(/"[\w ]*waiting for PostgreSQL"/g)).toEqual(['"no longer waiting for PostgreSQL"'])
}, 120_000)

test.each([
  ['resets', (way: Cable) => way.cut(), /^users cannot reach NATS \(ECONNRESET\); its log says since when$/],
  ['is silent', (way: Cable) => way.stall(), /^users cannot reach NATS \(TIMEOUT\); its log says since when$/],
])('the check of a container whose NATS %s says so', async (_, harm, sentence) => {
  const way = await layCable(servers.natsUrl.users)
  harm(way)
  expect(await healthOf('users', way.url)).toMatch(sentence)
  await way.stop()
})

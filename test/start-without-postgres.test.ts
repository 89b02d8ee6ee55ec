import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import type { Servers } from '../deploy/local/servers.ts'
import { type Cable, layCable } from './support/cable.ts'
import { startOwnNats } from './support/publishing.ts'
import { connectNats, type Nats } from '../lib/nats.ts'
import { silent } from './support/rpc.ts'
import { createDatabase, type TestDatabase } from './support/database.ts'

let servers: Servers
let database: TestDatabase
let cable: Cable & { url: string }
let nats: Nats
let child: ChildProcess

beforeAll(async () => {
  ;[servers, database] = await Promise.all([startOwnNats(), createDatabase()])
  cable = await layCable(database.adminUrl)
  nats = await connectNats(servers.natsUrl.admin, 'admin', silent)
})
afterEach(() => void child.kill('SIGKILL'))
afterAll(async () => {
  await nats.connection.close()
  await cable.stop()
  await Promise.all([database.drop(), servers.stop()])
})

type Name = 'users' | 'grants' | 'idp'

function start(name: Name, databaseUrl = through(name)) {
  const env = {
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
async function healthOf(name: Name): Promise<string> {
  const env = { PATH: process.env['PATH'], NATS_URL: servers.natsUrl[name] }
  const check = spawn(process.execPath, ['deploy/healthcheck.ts', name], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  const [said, [code]] = await Promise.all([text(check.stdout), once(check, 'exit')])
  expect(code).toBe(said === '' ? 0 : 1)
  return said.trim()
}

const answers = (name: Name) => () => nats.connection.request(`$SRV.PING.${name}`, '', { timeout: 500 })

describe.each(['users', 'grants', 'idp'] as const)('%s that starts without PostgreSQL', (name) => {
  test('waits, and answers once PostgreSQL is there', async () => {
    cable.cut()
    const waiting = start(name)
    await says(waiting, 'waiting for PostgreSQL')
    expect(await healthOf(name)).toMatch(new RegExp(`^${name} starts and waits for PostgreSQL since 20[-0-9T:.]+Z$`))
    cable.mend()
    await vi.waitFor(answers(name), { timeout: 30_000 })
    expect(await healthOf(name)).toBe('')
    expect(waiting.exitCode).toBeNull()
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
    const [said, exit] = await Promise.all([text(start(name, url.href).stdout!), once(child, 'exit')])
    expect(exit).toEqual([1, null])
    expect(said).toContain('password authentication failed')
  })
})

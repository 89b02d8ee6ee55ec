import { readFileSync } from 'node:fs'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { callJson } from './e2e/clients/json.ts'
import { roster } from '../lib/health/release.ts'
import type { Line } from './faults/plan.ts'
import { type Running, startRunning } from './faults/running.ts'

let running: Running
beforeAll(async () => void (running = await startRunning()), 120_000)
afterAll(() => running?.stop())

type Name = 'users' | 'grants' | 'idp' | 'notifier' | 'gateway'

interface Report {
  status: string
  missing?: string[]
  waiting?: Record<string, Record<string, string>>
  versions: Record<string, string[]>
}

async function readyz(): Promise<[number, Report]> {
  const answer = await fetch(`${running.url}/readyz`)
  return [answer.status, (await answer.json()) as Report]
}
const soon = { timeout: 90_000, interval: 50 }
const isFlawless = () => vi.waitFor(async () => expect((await readyz())[1].status).toBe('ok'), soon)

/** The lines of a service's log about its waits, from a place on. */
function said(name: Name, from = 0): { msg: string; server: string }[] {
  const lines = readFileSync(running.services.handles[name].logFile, 'utf8').slice(from).split('\n')
  return lines.filter((line) => line.includes('waiting for')).map((line) => JSON.parse(line))
}
const both = (server: string) => [`waiting for ${server}`, `no longer waiting for ${server}`]
/** A service writes its lines just after the readiness that it tells. */
const hasSaid = (name: Name, from: number, messages: string[]) =>
  vi.waitFor(() => expect(said(name, from).map(({ msg }) => msg)).toEqual(messages), soon)
const lengthOf = (name: Name) => readFileSync(running.services.handles[name].logFile, 'utf8').length

test('readiness has the version of each service', async () => {
  await isFlawless()
  const [, { versions }] = await readyz()
  const one = [roster.version]
  expect(versions).toEqual({ gateway: one, users: one, grants: one, idp: one, notifier: one })
})

const mail = () =>
  callJson(
    'AddHumanUser',
    {
      userName: `mail-${Date.now()}`,
      profile: { firstName: 'Ada', lastName: 'Lovelace' },
      email: { email: `mail-${Date.now()}@example.com` },
    },
    { url: running.url, token: running.adminToken },
  )

describe.each<[Line, Name, string, (() => Promise<unknown>)?, ('cut' | 'stall')?]>([
  ['users↔postgres', 'users', 'PostgreSQL'],
  ['grants↔postgres', 'grants', 'PostgreSQL', async () => {}, 'stall'],
  ['notifier↔postgres', 'notifier', 'PostgreSQL'],
  ['notifier↔redis', 'notifier', 'Redis'],
  ['notifier↔smtp', 'notifier', 'SMTP', mail],
])('while %s is away', (line, name, server, work, how = 'cut') => {
  test(`readiness and the log of ${name} name ${server} and since when, and once that it is over`, async () => {
    await isFlawless()
    const [from, before] = [lengthOf(name), Date.now()]
    running.cables[line][how]()
    await work?.()
    await vi.waitFor(async () => {
      const [http, { status, missing, waiting }] = await readyz()
      expect([http, status, missing]).toEqual([200, 'degraded', undefined])
      expect(waiting).toEqual({ [name]: { [server]: expect.any(String) } })
      const since = Date.parse(waiting![name]![server]!)
      // What hangs may have begun a moment before.
      expect(since).toBeGreaterThanOrEqual(before - 5000)
      expect(since).toBeLessThanOrEqual(Date.now())
    }, soon)
    const [, first] = await readyz()
    // Some tries later it is still the same wait.
    await new Promise((resolve) => setTimeout(resolve, 3000))
    expect((await readyz())[1].waiting).toEqual(first.waiting)
    running.cables[line].mend()
    await isFlawless()
    await hasSaid(name, from, both(server))
  }, 240_000)
})

test('while PostgreSQL waits for a synchronous standby, readiness and the log of users say so, and once that it is over', async () => {
  await isFlawless()
  const from = lengthOf('users')
  const admin = postgres(running.servers.databaseUrl, { max: 1 })
  const change = async (setting: string) => {
    await admin.unsafe(`alter system ${setting}`)
    await admin`select pg_reload_conf()`
  }
  await change(`set synchronous_standby_names = 'nobody'`)
  try {
    await mail()
    await vi.waitFor(async () => {
      const [http, { status, waiting }] = await readyz()
      expect([http, status]).toEqual([200, 'degraded'])
      expect(waiting!['users']).toMatchObject({ SynchronousStandby: expect.any(String) })
    }, soon)
  } finally {
    await change('reset synchronous_standby_names')
    await admin.end()
  }
  await isFlawless()
  await vi.waitFor(() => {
    const lines = said('users', from).filter(({ server }) => server === 'SynchronousStandby')
    expect(lines).toMatchObject([
      { msg: 'waiting for SynchronousStandby', err: { message: 'PostgreSQL waits for a synchronous standby: nobody' } },
      { msg: 'no longer waiting for SynchronousStandby' },
    ])
  }, soon)
}, 240_000)

test('a service that waits for PostgreSQL at its start is missing, with the reason', async () => {
  await isFlawless()
  running.cables['users↔postgres'].cut()
  await running.services.handles.users.kill('SIGKILL')
  await vi.waitFor(async () => {
    const [http, { status, missing, waiting }] = await readyz()
    expect([http, status, missing]).toEqual([503, 'unavailable', ['users']])
    expect(waiting).toEqual({ gateway: { users: expect.any(String) }, users: { PostgreSQL: expect.any(String) } })
  }, soon)
  running.cables['users↔postgres'].mend()
  await isFlawless()
}, 240_000)

test('a service without NATS says so once, and is missing; without its gateway’s keeper it waits for JetStream', async () => {
  await isFlawless()
  const [ofUsers, ofGateway] = [lengthOf('users'), lengthOf('gateway')]
  running.cables['users↔nats'].cut()
  await vi.waitFor(
    async () => expect((await readyz())[1].waiting).toEqual({ gateway: { users: expect.any(String) } }),
    soon,
  )
  running.cables['users↔nats'].mend()
  await isFlawless()
  running.cables['gateway↔nats'].cut()
  await vi.waitFor(async () => {
    const [http, { waiting }] = await readyz()
    expect([http, waiting]).toEqual([503, { gateway: { NATS: expect.any(String) } }])
  }, soon)
  await vi.waitFor(() => expect(said('users', ofUsers).at(-1)!.server).toBe('JetStream'), soon)
  running.cables['gateway↔nats'].mend()
  await isFlawless()
  await hasSaid('users', ofUsers, [...both('NATS'), ...both('JetStream')])
  // The gateway has two connections: one is the keeper's.
  await vi.waitFor(
    () =>
      expect(
        said('gateway', ofGateway)
          .map(({ msg }) => msg)
          .toSorted(),
      ).toEqual([...both('NATS'), ...both('NATS')].toSorted()),
    soon,
  )
}, 240_000)

test('no log and no answer held a password', async () => {
  const logs = (['users', 'grants', 'idp', 'notifier', 'gateway'] as const).map((name) =>
    readFileSync(running.services.handles[name].logFile, 'utf8'),
  )
  expect(`${logs.join('')} ${JSON.stringify(await readyz())}`).not.toMatch(
    /(users|grants|idp|notifier)-password|:\/\/[^/\s"]*:[^/\s"]*@/,
  )
})

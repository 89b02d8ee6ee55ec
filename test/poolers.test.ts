import { randomUUID } from 'node:crypto'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import type { Servers } from '../deploy/local/servers.ts'
import { provision, storingServices, type StoringService } from '../deploy/provision.ts'
import { openDatabase } from '#lib/database/database'
import { createWaits } from '#lib/health/waits'
import { proveSession } from '#lib/database/prove-session'
import { watchSession } from '#lib/database/watch-session'
import { callJson } from './e2e/clients/json.ts'
import { factsOf } from './e2e/clients/call.ts'
import { readUrls } from '../operator/settings.ts'
import { openSystem } from '../operator/system.ts'
import { type House, startHouse } from './house.ts'
import type { TestServers } from './infra.ts'
import { createDatabase, type TestDatabase } from './support/database.ts'
import { endOf } from './support/end-of.ts'
import { operatorSettings, runOperator } from './support/operator.ts'
import { hasPgbouncer, type Pgbouncer, startPgbouncer } from './support/pgbouncer.ts'
import { startOwnNats } from './support/publishing.ts'
import { keepingLog } from './support/rpc.ts'
import { testServers } from './support/servers.ts'

const sharing =
  'Roster cannot work through the pooler that DATABASE_URL leads to, because it shares sessions among connections: ' +
  'set its pool_mode to session, or let DATABASE_URL lead to PostgreSQL itself (docs/reliability.md).'

describe.skipIf(!hasPgbouncer)('through PgBouncer (where Debian’s package pgbouncer is installed)', () => {
  let servers: Servers
  let database: TestDatabase
  beforeAll(async () => {
    ;[servers, database] = await Promise.all([startOwnNats(), createDatabase()])
  })
  afterAll(async () => {
    await Promise.all([database.drop(), servers.stop()])
  })

  async function pool(settings: Parameters<typeof startPgbouncer>[1]): Promise<Pgbouncer> {
    const pgbouncer = await startPgbouncer(Object.values(database.urls), settings)
    onTestFinished(() => pgbouncer.stop())
    return pgbouncer
  }
  test('provision makes a database that PostgreSQL behind the pooler does not have yet', async () => {
    const url = new URL(database.adminUrl)
    const name = `behind_${randomUUID().slice(0, 8)}`
    url.pathname = `/${name}`
    const pgbouncer = await startPgbouncer([url.href], { mode: 'session', more: 'server_login_retry = 1' })
    await provision(pgbouncer.through(url.href), testServers().databasePasswords)
    const sql = postgres(database.adminUrl, { max: 1 })
    onTestFinished(async () => {
      await pgbouncer.stop()
      await sql`drop database ${sql(name)} with (force)`
      await sql.end()
    })
    expect(await sql`select from pg_database where datname = ${name}`).toHaveLength(1)
  })

  const proof = (through: Pgbouncer) => proveSession(through.through(database.urls.users), 'test')

  test.each(['users', 'notifier'] as const)(
    '%s refuses to start in transaction mode, with one sentence',
    async (name) => {
      const { through } = await pool({ mode: 'transaction' })
      const settings = { DATABASE_URL: through(database.urls[name]), NATS_URL: servers.natsUrl[name] }
      expect(await endOf(name, settings)).toEqual([1, [sharing]])
    },
  )

  test.each([
    ['transactions', { mode: 'transaction' }],
    ['statements', { mode: 'statement' }],
    ['transactions with one session alone', { mode: 'transaction', size: 1 }],
  ] as const)('a pool of %s is refused', async (_, settings) => {
    await expect(proof(await pool(settings))).rejects.toThrow(sharing)
  })

  test('a pool of transactions is refused while others use its sessions in turns', async () => {
    const pgbouncer = await pool({ mode: 'transaction', size: 2, more: 'server_round_robin = 1' })
    const others = [0, 1].map(() => postgres(pgbouncer.through(database.urls.users), { max: 1, prepare: false }))
    await Promise.all(others.map((sql) => sql`select pg_sleep(0.2)`))
    await expect(proof(pgbouncer)).rejects.toThrow(sharing)
    await Promise.all(others.map((sql) => sql.end()))
  })

  test('a setting of a session that DATABASE_URL names and the pooler refuses is named', async () => {
    const pgbouncer = await pool({ mode: 'session' })
    const url = `${pgbouncer.through(database.urls.users)}?work_mem=8MB`
    await expect(proveSession(url, 'test')).rejects.toThrow(/because it refuses the setting work_mem of a connection: /)
  })

  test('a pool that is found to share sessions has every call refused until a restart, also once it no longer does', async () => {
    const pgbouncer = await pool({ mode: 'session' })
    const { log, lines } = keepingLog()
    const url = pgbouncer.through(database.urls.users)
    const sql = openDatabase(url, 'users', log)
    const watch = watchSession({ url, service: 'users', log, waits: createWaits(log), pools: [sql], every: 50 })
    onTestFinished(async () => void (await Promise.all([watch.stop(), sql.end()])))
    expect(watch.refusal()).toBeUndefined()
    await pgbouncer.change({ mode: 'transaction' })
    await vi.waitFor(() => expect(watch.refusal()).toMatchObject({ reason: 'STORE_UNAVAILABLE' }))
    await pgbouncer.change({ mode: 'session' })
    await proof(pgbouncer)
    expect(watch.refusal()).toMatchObject({ reason: 'STORE_UNAVAILABLE' })
    await expect(sql`select 1`).rejects.toThrow(sharing)
    expect(lines.join('').match(/all calls are refused until a restart/g)).toHaveLength(1)
    expect(lines.join('')).toContain(sharing)
  })

  describe('in session mode', () => {
    let pgbouncer: Pgbouncer
    let house: House
    let operator: string
    beforeAll(async () => {
      const own = await createDatabase()
      operator = (own.urls as TestServers['serviceDatabaseUrls']).operator
      const readers = storingServices.map((service) =>
        operator.replace('roster_operator', `roster_operator_${service}`),
      )
      pgbouncer = await startPgbouncer([...Object.values(own.urls), ...readers], { mode: 'session' })
      const urls = Object.entries(own.urls).map(([name, url]) => [name, pgbouncer.through(url)])
      house = await startHouse(Object.fromEntries(urls) as Record<StoringService, string>, {}, { servers: inHouse() })
      return async () => {
        await house.stop()
        await pgbouncer.stop()
        await own.drop()
      }
    }, 120_000)
    const inHouse = () => ({ ...servers, databasePasswords: {} as never, serviceDatabaseUrls: {} as never })

    test('everything that is written is read again', async () => {
      const { url, adminToken: token } = house
      const add = async (n: number) => {
        const email = { email: `pooled-${n}@example.com` }
        const profile = { firstName: 'Ada', lastName: `Number${n}` }
        const { ok } = await callJson('AddHumanUser', { userName: `pooled-${n}`, profile, email }, { url, token })
        return String(ok!['userId'])
      }
      const ids = await Promise.all(Array.from({ length: 30 }, (_, n) => add(n)))
      expect(new Set(ids).size).toBe(30)
      const read = await Promise.all(ids.map((userId) => callJson('GetUser', { userId }, { url, token })))
      expect(read.map(({ ok }) => JSON.stringify(ok).match(/Number\d+/)?.[0])).toEqual(ids.map((_, n) => `Number${n}`))
    })

    test('the operator’s command reads and writes through it, and its reading sessions only read', async () => {
      const serviceDatabaseUrls = { operator: pgbouncer.through(operator) } as TestServers['serviceDatabaseUrls']
      const settings = operatorSettings({ ...testServers(), ...servers, serviceDatabaseUrls })
      expect(await runOperator(['verify'], settings)).toMatchObject({ status: 0 })
      const end = () => runOperator(['sessions', 'end', '--yes'], settings)
      expect(await end()).toMatchObject({ status: 2, err: expect.stringContaining('users runs: stop it first') })
      await house.restart('users', async () => expect(await end()).toMatchObject({ status: 0 }))
      const system = openSystem(readUrls(settings))
      onTestFinished(() => system.close())
      const change = system.sql('idp')`update published set stream_created = stream_created`
      await expect(change).rejects.toMatchObject({ code: '25006' })
    })

    test('after a change to a pool of transactions no write is stored once one was refused, and none ends otherwise', async () => {
      const { url, adminToken: token } = house
      let number = 0
      const write = async () => {
        const answer = await callJson('AddMachineUser', { userName: `moved-${++number}`, name: 'M' }, { url, token })
        return answer.ok ? 'stored' : factsOf(answer).reason
      }
      const round = () => Promise.all(Array.from({ length: 16 }, write))
      expect(new Set(await round())).toEqual(new Set(['stored']))
      await pgbouncer.restart({ mode: 'transaction' })
      const ends = new Set<string | undefined>()
      await expect
        .poll(async () => {
          const all = await round()
          for (const end of all) ends.add(end)
          return all.includes('stored')
        })
        .toBe(false)
      // The proof passes by chance, and the mark of one connection is another one's.
      for (let rounds = 0; rounds < 30; rounds++) for (const end of await round()) ends.add(end)
      expect(await round()).not.toContain('stored')
      expect([...ends].filter((end) => end !== 'stored')).toEqual(['STORE_UNAVAILABLE'])
      expect(await (await fetch(`${url}/readyz`)).json()).toMatchObject({ missing: expect.arrayContaining(['users']) })
      await pgbouncer.restart({ mode: 'session' })
      expect(new Set(await round())).toEqual(new Set(['STORE_UNAVAILABLE']))
      for (const name of storingServices) await house.restart(name)
      await expect.poll(write).toBe('stored')
    })
  })
})

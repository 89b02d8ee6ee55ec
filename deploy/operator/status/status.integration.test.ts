import type { JsonObject } from '@bufbuild/protobuf'
import postgres, { type TransactionSql } from 'postgres'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { roster } from '#lib/health/release'
import { connectNats } from '#lib/nats'
import { operatorSettings, type Ran, runOperator } from '#test/support/operator'
import { silent } from '#test/support/rpc'
import { callGrpc } from '../../../test/e2e/clients/grpc.ts'
import type { Operation } from '../../../test/examples/contract.ts'
import { ok, unique } from '../../../test/examples/people.ts'
import { type House, startHouse } from '../../../test/house.ts'
import { startTestServers } from '../../../test/infra.ts'

let started: Awaited<ReturnType<typeof startTestServers>>
let house: House
let admin: postgres.Sql
let settings: Record<string, string>

beforeAll(async () => {
  started = await startTestServers()
  house = await startHouse(started.servers.serviceDatabaseUrls, { CHECKPOINT_INTERVAL: '1' }, { servers: started.servers }) // prettier-ignore
  admin = postgres(started.servers.databaseUrl, { max: 3, onnotice: () => {} })
  settings = operatorSettings(started.servers)
}, 120_000)
afterAll(async () => {
  await house?.stop()
  await admin?.end()
  await started?.stop()
})

const run = (...args: string[]): Promise<Ran> => runOperator(args, settings)
const status = async () => (await run('status', '--json')).json()[0]
const act = async (operation: Operation, request: JsonObject) =>
  ok(await callGrpc(operation, request, { url: house.url, token: house.adminToken }))
const allIsWell = () => vi.waitFor(async () => expect((await status()).attention).toEqual([]), { timeout: 20_000 })

test('status shows every service, its events and queues, and ends well', async () => {
  await vi.waitFor(async () => expect((await run('status')).status).toBe(0), { timeout: 20_000 })
  const { out } = await run('status')
  for (const name of ['users', 'grants', 'idp', 'notifier', 'gateway'])
    expect(out).toMatch(new RegExp(`^${name} +${roster.version} `, 'm'))
  expect(out).toMatch(/^messages of the stream for notifier +0$/m)
  expect(out).toMatch(/^jobs of email-codes, waiting +0$/m)
  expect(out).toContain('All is well.')
  const [found] = (await run('status', '--json')).json()
  expect(Object.keys(found.services).toSorted()).toEqual(['gateway', 'grants', 'idp', 'notifier', 'users'])
  expect(found).toMatchObject({ attention: [], tails: { users: { parked: 0 } }, intake: { users: 0 } })
})

test('status names a service that does not answer, and ends with 1', async () => {
  await house.restart('idp', async () => {
    const { status: exit, out } = await run('status')
    expect(exit).toBe(1)
    expect(out).toContain('! idp: no replica answers')
  })
})

test(
  'a service that locks its tables hides no other one, and is named with the reason',
  { timeout: 60_000 },
  async () => {
    await admin.begin(async (transaction) => {
      await transaction`lock table roster_users.events, roster_users.audit_checkpoints`
      const { status: exit, json } = await run('status', '--json')
      const [{ tails, chains, intake, forgettings, deliveries, attention }] = json()
      expect(exit).toBe(1)
      for (const found of [tails, chains]) expect(Object.keys(found).toSorted()).toEqual(['grants', 'idp', 'notifier'])
      expect([intake, deliveries]).toEqual([{ grants: 0 }, expect.any(Object)])
      expect(forgettings).toEqual({})
      const reasons = attention.filter((line: string) => line.includes('cannot be looked at'))
      expect(reasons).toEqual(['users: cannot be looked at: canceling statement due to lock timeout'])
    })
    await allIsWell()
  },
)

test.each([
  ['that is no JSON', '{'],
  ['of another shape', 'null'],
  ['without a version', '{"id":"x"}'],
  ['with strange numbers', '{"id":"x","version":"0.0.1","endpoints":[{"num_requests":"\u001B[2J"}]}'],
])('status passes over an answer %s, and names the service that gives it', async (_, answer) => {
  const { connection } = await connectNats(started.servers.natsUrl.users, 'users', silent)
  try {
    for (const subject of ['$SRV.INFO.users', '$SRV.STATS.users'])
      connection.subscribe(subject, { callback: (_error, message) => void message.respond(answer) })
    await connection.flush()
    const [found] = (await run('status', '--json')).json()
    expect(found.attention).toContainEqual(
      expect.stringMatching(/^users: [12] answers about its replicas cannot be read$/),
    )
    expect(found.services.users).toContainEqual(expect.objectContaining({ version: roster.version }))
    expect(found.services.idp).toHaveLength(1)
  } finally {
    await connection.close()
  }
})

test('status shows each gateway, and that two of them run in different versions', async () => {
  const { connection } = await connectNats(started.servers.natsUrl.gateway, 'gateway', silent)
  const older = `${roster.former}.7`
  try {
    const answer = JSON.stringify({ id: 'x', version: older, metadata: { host: 'another' } })
    connection.subscribe('$SRV.INFO.gateway', { callback: (_error, message) => void message.respond(answer) })
    await connection.flush()
    const [found] = (await run('status', '--json')).json()
    expect(found.attention).toEqual([`several versions run: ${older}, ${roster.version}`])
    const versions = found.services.gateway.map(({ version }: { version: string }) => version)
    expect(versions.toSorted()).toEqual([older, roster.version])
  } finally {
    await connection.close()
  }
})

describe('the audit chain', () => {
  test('that goes on has nothing to wait for, and its end is signed', async () => {
    await act('AddProject', { name: unique('project') })
    await vi.waitFor(
      async () =>
        expect((await status()).chains.grants).toEqual({
          epoch: 1,
          held: false,
          waiting: 0,
          seconds: 0,
          unsigned: 0,
          mayWait: expect.any(Number),
        }),
      { timeout: 20_000 },
    )
    expect((await run('status')).out).toMatch(/^grants +0 +0\.0 +1$/m)
  })

  test('that is held is named', async () => {
    await inIdp((sql) => sql`select audit_hold()`)
    expect(await run('status')).toMatchObject({
      status: 1,
      out: expect.stringContaining('! idp: the audit chain is held, because stored events are being changed'),
    })
    await inIdp((sql) => sql`select audit_begin('by hand')`)
    await vi.waitFor(async () => expect((await status()).chains.idp).toMatchObject({ epoch: 2, held: false }), { timeout: 20_000 }) // prettier-ignore
    await allIsWell()
  })

  test('that cannot go on is named with the age of the first event that waits', async () => {
    await whileLocked('roster_grants.audit_pages', async () => {
      await storedBefore('10 minutes')
      const { chains, attention } = await status()
      expect(chains.grants.waiting).toBeGreaterThan(0)
      expect(chains.grants.unsigned).toBeGreaterThanOrEqual(600)
      expect(attention).toContainEqual(expect.stringMatching(/^grants: an event waits 6\d\d s for the audit chain$/))
    })
    await allIsWell()
  })

  test('that nobody signs for longer than the last pauses tell is named, whatever time a checkpoint tells', async () => {
    await vi.waitFor(
      async () => {
        await act('AddProject', { name: unique('project') })
        // Of two checkpoints, the only pause would be the one that is altered.
        expect((await admin`select from roster_grants.audit_checkpoints`).count).toBeGreaterThan(2)
      },
      { timeout: 20_000 },
    )
    // The oldest event without a checkpoint counts.
    await vi.waitFor(async () => expect((await status()).chains.grants.unsigned).toBe(0), { timeout: 20_000 })
    await admin`
      update roster_grants.audit_checkpoints set signed_at = '2999-01-01'
      where number = (select max(number) from roster_grants.audit_checkpoints)
    `
    await whileLocked('roster_grants.audit_checkpoints', async () => {
      await storedBefore('1 hour')
      await vi.waitFor(
        async () => {
          const { chains, attention } = await status()
          expect(chains.grants.waiting).toBe(0)
          expect(attention).toContainEqual(expect.stringMatching(/^grants: no checkpoint was signed for 36\d\d s$/))
        },
        { timeout: 20_000 },
      )
    })
    await allIsWell()
  })

  const inIdp = (work: (sql: TransactionSql) => PromiseLike<unknown>) =>
    admin.begin(async (sql) => {
      await sql`set local search_path to roster_idp`
      await work(sql)
    })

  // Writes wait there meanwhile, and reads are not.
  async function whileLocked(table: string, work: () => Promise<void>) {
    await admin.begin(async (transaction: TransactionSql) => {
      await transaction.unsafe(`lock table ${table} in share mode`)
      await work()
    })
  }

  async function storedBefore(time: string) {
    await act('AddProject', { name: unique('project') })
    await admin`
      update roster_grants.events set created_at = created_at - ${time}::text::interval
      where position = (select max(position) from roster_grants.events)
    `
  }
})

describe('keys of users', () => {
  // No mail is under way that another event would follow.
  const addUser = async () =>
    String((await act('AddMachineUser', { userName: unique('machine'), name: 'A machine' })).userId)

  test('are all there and open where nobody was lost, also after a user was removed', async () => {
    await addUser()
    await act('DeleteUser', { userId: await addUser() })
    await allIsWell()
    const { keys } = await status()
    expect(keys).toEqual({ looked: expect.any(Number), isAll: true, opened: true, lost: 0, users: [] })
    const [{ alive }] = await admin<[{ alive: number }]>`select count(*)::int as alive from roster_users.subject_keys`
    expect(keys.looked).toBe(alive)
    expect((await run('status')).out).toContain(`keys of users: all ${alive} looked at, 0 lost\n`)
  })

  test('that are lost or cannot be opened are counted, and their users named', async () => {
    const [missing, broken] = [await addUser(), await addUser()]
    await vi.waitFor(async () => expect((await status()).tails.users.waiting).toBe(0), { timeout: 20_000 })
    await admin`create table kept_keys as table roster_users.subject_keys`
    await admin`delete from roster_users.subject_keys where subject_id = ${missing}`
    await admin`
      update roster_users.subject_keys set wrapped = set_byte(wrapped, length(wrapped) - 1, 255 - get_byte(wrapped, length(wrapped) - 1))
      where subject_id = ${broken}
    `
    const { keys, attention } = await status()
    expect(keys).toMatchObject({ lost: 2, opened: true })
    expect(keys.users.toSorted()).toEqual([missing, broken].toSorted())
    expect(attention).toEqual([
      expect.stringMatching(/^users: the keys of 2 users are lost, such as of \S+, \S+: nobody can read them$/),
    ])
    const { ROSTER_OPERATOR_PERSONAL_KEY: _, ...keyless } = settings
    const [without] = (await runOperator(['status', '--json'], keyless)).json()
    expect(without.keys).toMatchObject({ lost: 1, opened: false, users: [missing] })
    await admin`delete from roster_users.subject_keys`
    await admin`insert into roster_users.subject_keys table kept_keys`
    await allIsWell()
  })

  test('are looked at for a part of the users where there are very many', async () => {
    const many = 8000
    await admin`
      insert into roster_users.aggregates (type, id, organization_id, sequence, created_at, changed_at, state)
      select 'user', 'many-' || number, 'many', 1, now(), now(), jsonb_build_object('$sealed', repeat('x', 1500))
      from generate_series(1, ${many}::int) number
    `
    const { keys } = await status()
    expect(keys.isAll).toBe(false)
    expect(keys.looked).toBeGreaterThan(0)
    expect(keys.looked).toBeLessThan(many)
    expect(keys.users).toHaveLength(5)
    expect((await run('status')).out).toMatch(/^keys of users: \d+ of them looked at, \d+ lost$/m)
    await admin`delete from roster_users.aggregates where organization_id = 'many'`
  })
})

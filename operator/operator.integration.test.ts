import { randomUUID } from 'node:crypto'
import type { JsonObject } from '@bufbuild/protobuf'
import { connect } from 'nats'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { streamName } from '#lib/events/stream'
import { openDatabase } from '#lib/database/database'
import { checkpointSubject } from '#lib/events/checkpoint-subject'
import { type OperatedHouse, startOperatedHouse } from '#test/support/operated-house'
import { runOperator, spawnOperator } from '#test/support/operator'
import { silent } from '#test/support/rpc'
import { callGrpc } from '../test/e2e/clients/grpc.ts'
import type { Operation } from '../test/examples/contract.ts'
import { addEveryObject } from '../test/examples/every-object.ts'
import { ok } from '../test/examples/people.ts'
import type { House } from '../test/house.ts'
import { readUrls } from './settings.ts'
import { openSystem } from './system.ts'

let there: OperatedHouse
let house: House
let admin: postgres.Sql
let settings: Record<string, string>

beforeAll(async () => {
  there = await startOperatedHouse()
  ;({ house, admin, settings } = there)
}, 120_000)
afterAll(() => there?.stop())

const run = (...args: string[]) => there.roster(...args)

/** An event that proto/ does not know, so that the outbox parks it. */
async function strangeEvent(): Promise<string> {
  const id = randomUUID()
  const [{ position }] = await admin<[{ position: string }]>`
    insert into roster_users.events
      (aggregate_type, aggregate_id, sequence, type, payload, organization_id, creator, request_id, created_at)
    values ('user', ${id}, 1, 'unheard.of', '{}', 'default', '', '', now())
    returning position::text
  `
  await vi.waitFor(async () => expect(await deadPositions()).toContain(position), { timeout: 15_000 })
  return position
}

async function deadPositions(): Promise<string[]> {
  const rows = await admin<{ position: string }[]>`select position::text from roster_users.parked_events`
  return rows.map(({ position }) => position)
}

test('a dead letter is listed, and stays one with its reason when a retry fails', async () => {
  const position = await strangeEvent()
  const listed = await run('parked', 'list')
  expect(listed.status).toBe(1)
  expect(listed.out).toMatch(new RegExp(`^users-${position} +user\\.unheard\\.of +\\S+ +1 +.*is missing`, 'm'))
  expect((await run('status')).out).toContain('! users: dead letters of the outbox: 1')
  await admin`update roster_users.parked_events set reason = 'old'`
  expect((await run('parked', 'retry', `users-${position}`)).out).toBe(`users-${position}: done\n`)
  const row = () => admin`select reason, retry from roster_users.parked_events where position = ${position}`
  await vi.waitFor(
    async () => expect([...(await row())]).toEqual([{ reason: expect.stringContaining('is missing'), retry: false }]),
    { timeout: 15_000 },
  )
})

test('a dead letter goes into the stream by a retry once it can', async () => {
  const position = await strangeEvent()
  await admin`update roster_users.events set type = 'locked' where position = ${position}`
  expect((await run('parked', 'retry', '--all')).status).toBe(0)
  await vi.waitFor(async () => expect(await deadPositions()).not.toContain(position), { timeout: 15_000 })
})

test('a dead letter is dropped only by an operator who agrees', async () => {
  const position = await strangeEvent()
  const refused = await run('parked', 'drop', `users-${position}`)
  expect(refused.status).toBe(2)
  expect(refused.err).toContain('Nothing was done')
  expect(await deadPositions()).toContain(position)
  expect(await run('parked', 'drop', `users-${position}`, '--yes')).toMatchObject({ status: 0 })
  expect(await deadPositions()).not.toContain(position)
  expect(await run('parked', 'drop', `users-${position}`, '--yes')).toMatchObject({
    status: 1,
    out: `users-${position}: is no dead letter\n`,
  })
})

test('a dead letter of a follower is listed, tried again and dropped', async () => {
  await admin`
    insert into roster_grants.parked_for_followers
    values ('no-one', '1', 7, 3, now() + interval '1 hour', ${'\u001B[2J\u009Bno'})
  `
  const { out } = await run('parked', 'list', 'grants')
  expect(out).toMatch(/^grants\/no-one\/7 +3 +\\u\{1b\}\[2J\\u\{9b\}no$/m)
  await run('parked', 'retry', 'grants/no-one/7')
  const due = () => admin`select next_try_at <= now() as due from roster_grants.parked_for_followers`
  expect([...(await due())]).toEqual([{ due: true }])
  expect((await run('parked', 'drop', 'grants/no-one/7', '--yes')).status).toBe(0)
  expect([...(await due())]).toEqual([])
})

test('retry of all takes the services side by side: one that holds its table up holds up no other', async () => {
  const position = await strangeEvent()
  await admin`insert into roster_grants.parked_for_followers values ('no-one', '1', 7, 3, now() + interval '1 hour', 'no')`
  const retried = await admin.begin(async (transaction) => {
    await transaction`select from roster_users.parked_events for update`
    const running = run('parked', 'retry', '--all')
    const due = () => admin`select from roster_grants.parked_for_followers where next_try_at <= now()`
    await vi.waitFor(async () => expect(await due()).toHaveLength(1), { timeout: 15_000 })
    return { running }
  })
  expect(await retried.running).toMatchObject({ status: 0, out: expect.stringContaining(`users-${position}: done`) })
  expect((await run('parked', 'drop', '--all', '--yes')).status).toBe(0)
})

test('republish sends every event and checkpoint of a service anew, and asks before', async () => {
  const refused = await run('republish')
  expect(refused).toMatchObject({ status: 2, err: expect.stringContaining('Nothing was done') })
  const stored = () => admin<[{ events: number; checkpoints: number }]>`
    select count(*)::int as events, (select count(*)::int from roster_users.audit_checkpoints) as checkpoints
    from roster_users.events where position not in (select position from roster_users.parked_events)
  `
  const [{ checkpoints }] = await stored()
  const before = await messages()
  const { status, out } = await run('republish', 'users', '--yes')
  expect({ status, out }).toEqual({ status: 0, out: 'users: all is sent\n' })
  const [{ events }] = await stored()
  expect((await messages()).events).toBe(before.events + events)
  const checkpointsNow = async () => (await messages()).checkpoints
  await expect.poll(checkpointsNow, { timeout: 20_000 }).toBeGreaterThanOrEqual(before.checkpoints + checkpoints)
})

/** Counts the messages of the users service in the stream. */
async function messages() {
  const { host, username, password } = new URL(there.servers.natsUrl.admin)
  const nats = await connect({ servers: host, user: username, pass: password })
  try {
    const { streams } = await nats.jetstreamManager()
    const { state } = await streams.info(streamName, { subjects_filter: 'roster.events.users.>' })
    const checkpoints = state.subjects![checkpointSubject('users')] ?? 0
    return { checkpoints, events: Object.values(state.subjects!).reduce((all, some) => all + some) - checkpoints }
  } finally {
    await nats.close()
  }
}

describe('export', () => {
  const act = async (operation: Operation, request: JsonObject, organization?: string) =>
    ok(await callGrpc(operation, request, { url: house.url, token: house.adminToken, organization }))

  test('has all of an organization and nothing of another, and no secret', async () => {
    const caller = { url: house.url, token: house.adminToken }
    const [own, other] = [
      await addEveryObject(callGrpc, caller, 'https://hooks.example.com/'),
      await addEveryObject(callGrpc, caller, 'https://hooks.example.com/'),
    ]
    const { orgId, password, clientSecret, token } = own.values
    await act('AddProject', { name: 'The last one' }, orgId)
    const { status, out, json } = await run('export', orgId!)
    const lines = json()
    expect(status).toBe(0)
    expect(lines[0]).toMatchObject({ kind: 'export', organization: orgId })
    const events = lines.filter(({ kind }) => kind === 'event')
    const objects = lines.filter(({ kind }) => kind === 'object')
    expect(lines.at(-1)).toEqual({ kind: 'end', events: events.length, objects: objects.length })
    const ids = objects.map(({ id }) => id)
    for (const name of ['orgId', 'userId', 'projectId', 'grantId', 'webhookId', 'sessionId'])
      expect(ids, name).toContain(own.values[name])
    expect(new Set([...events, ...objects].map(({ organizationId }) => organizationId))).toEqual(new Set([orgId]))
    for (const secret of [password, clientSecret, token, house.adminToken]) expect(out).not.toContain(secret)
    for (const name of ['userId', 'projectId', 'orgId']) expect(out).not.toContain(other.values[name])
    expect(objects.find(({ state }) => state.name === 'The last one')).toBeDefined()
  })

  test('has all that was committed before, though somebody has left a transaction open', async () => {
    const { organizationId } = await act('AddOrganization', { name: 'Beside an open transaction' })
    await admin.begin(async (open) => {
      await open`select pg_current_xact_id()`
      const { id } = await act('AddProject', { name: 'Written meanwhile' }, organizationId)
      const { status, json } = await run('export', organizationId)
      expect(status).toBe(0)
      expect(json()).toContainEqual(expect.objectContaining({ kind: 'event', aggregateId: id }))
      expect(json()).toContainEqual(expect.objectContaining({ kind: 'object', id }))
    })
  })

  test('has a user whom no key decrypts, and says so, and all others', async () => {
    const { organizationId } = await act('AddOrganization', { name: 'With an unreadable user' })
    const add = (userName: string) => act('AddMachineUser', { userName, name: `${userName}-name` }, organizationId)
    const [{ userId: lost }, { userId: healthy }] = [await add('lost-machine'), await add('healthy-machine')]
    await admin`delete from roster_users.subject_keys where subject_id = ${lost}`
    const { status, out, json } = await run('export', organizationId)
    const lines = json()
    expect(status).toBe(0)
    expect(lines.at(-1)).toMatchObject({ kind: 'end' })
    expect(lines.find(({ kind, id }) => kind === 'object' && id === lost)).toMatchObject({ unreadable: true })
    expect(lines.find(({ kind, id }) => kind === 'object' && id === healthy)).toMatchObject({
      state: { userName: 'healthy-machine' },
    })
    expect(lines.find(({ kind, aggregateId }) => kind === 'event' && aggregateId === lost)).toHaveProperty('sealed')
    expect(out).not.toContain('lost-machine')
    await act('DeleteUser', { userId: lost }, organizationId)
    const after = (await run('export', organizationId)).json()
    expect(after.find(({ kind, id }) => kind === 'object' && id === lost)).not.toHaveProperty('unreadable')
  })

  test('of an unknown organization ends with 2', async () =>
    expect(await run('export', 'no-one')).toMatchObject({ status: 2, out: '' }))
})

test.each([
  [[], 0],
  [['--help'], 0],
  [['parked', 'drop', '--help'], 0],
  [['nonsense'], 2],
  [['status', '--nonsense'], 2],
  [['status', 'nonsense'], 2],
  [['parked', 'list', 'nonsense'], 2],
  [['parked', 'retry'], 2],
  [['parked', 'drop', "users-1'; drop table events", '--yes'], 2],
])('%j ends with %i', async (args, status) => expect(await run(...args)).toMatchObject({ status }))

test('each command names first the database that it works on: host, name and history', async () => {
  const { host, pathname } = new URL(there.servers.databaseUrl)
  const named = new RegExp(
    `^PostgreSQL at ${host}, database ${pathname.slice(1)}, history 1 since 20.+Z, last event 20.+Z\\.\n$`,
  )
  for (const args of [
    ['parked', 'list'],
    ['checkpoints', '--json'],
    ['history', 'show'],
    ['sessions', 'end'],
  ])
    expect((await run(...args)).place).toMatch(named)
})

test('where a setting names the database alone, what needs no NATS works, and what does names the setting', async () => {
  const { ROSTER_OPERATOR_DATABASE_URL, ROSTER_OPERATOR_PERSONAL_KEY } = settings
  const own = { ROSTER_OPERATOR_DATABASE_URL, ROSTER_OPERATOR_PERSONAL_KEY } as Record<string, string>
  const alone = (...args: string[]) => runOperator(args, own)
  for (const args of [
    ['parked', 'list'],
    ['checkpoints'],
    ['history', 'show'],
    ['verify', 'grants', '--without-stream'],
  ])
    // 1: it found something, such as a dead letter.
    expect((await alone(...args)).status).toBeLessThan(2)
  const missing = 'This needs NATS, and ROSTER_OPERATOR_NATS_URL is not set (docs/command.md).'
  expect(await alone('verify')).toMatchObject({ status: 2, out: '', err: `${missing}\n` })
  expect((await alone('status')).out).toContain(`! services: cannot be looked at: ${missing}`)
})

test('as a process, it writes to its streams, and ends with the status', async () => {
  expect(await spawnOperator(['status', '--help'], {})).toMatchObject({ status: 0, err: '' })
  const { status, out, err } = await spawnOperator(['status', '--nonsense'], {})
  expect({ status, out }).toEqual({ status: 2, out: '' })
  expect(err).toMatch(/^Unknown option '--nonsense'/)
})

test('without a server, the command says which one in a line, and ends with 2', async () => {
  const away = { ...settings, ROSTER_OPERATOR_DATABASE_URL: 'postgres://roster_operator:x@127.0.0.1:1/roster' }
  const { status, err } = await runOperator(['parked', 'list'], away)
  expect(status).toBe(2)
  expect(err).toMatch(/^.*ECONNREFUSED.*\n$/)
})

describe('the rights of the command', () => {
  /** A connection as the command has it to a service. */
  function asOperator(service: string) {
    const url = new URL(there.settings['ROSTER_OPERATOR_DATABASE_URL']!)
    url.username += `_${service}`
    return postgres(url.href, { max: 1, onnotice: () => {} })
  }

  const denied = { code: '42501' }

  test.each([
    [
      'users',
      [
        'passwords',
        'tokens',
        'machine_secrets',
        'signing_keys',
        'id_token_keys',
        'copies',
        'known_addresses',
        'idempotent_answers',
        'code_salt',
      ],
    ],
    ['idp', ['client_secrets', 'idempotent_answers']],
    ['notifier', ['webhook_secrets']],
  ])('the role for %s reads no secret and changes nothing else', async (service, secrets) => {
    const sql = asOperator(service)
    const schema = sql.unsafe(`roster_${service}`)
    try {
      for (const table of secrets)
        await expect(sql`select * from ${schema}.${sql(table)}`, table).rejects.toMatchObject(denied)
      await expect(sql`select message_key from ${schema}.published`).rejects.toMatchObject(denied)
      await expect(sql`update ${schema}.published set position = 0`).rejects.toMatchObject(denied)
      for (const table of ['events', 'aggregates', 'unique_keys'])
        await expect(sql`delete from ${schema}.${sql(table)}`, table).rejects.toMatchObject(denied)
      await expect(sql`create table ${schema}.mine (x int)`).rejects.toMatchObject(denied)
      for (const makes of ['lo_creat(0)', 'lo_create(0)', `lo_from_bytea(0, 'x')`])
        await expect(sql.unsafe(`select ${makes}`), makes).rejects.toMatchObject(denied)
    } finally {
      await sql.end()
    }
  })

  test('a function that runs with the rights of its owner looks into no temporary table of the one who calls it', async () => {
    const functions = await there.admin<{ schema: string; name: string; settings: string[] }[]>`
      select nspname as schema, proname as name, proconfig as settings
      from pg_proc join pg_namespace n on n.oid = pronamespace where prosecdef and nspname like 'roster%'
    `
    expect(functions.map(({ name }) => name).toSorted()).toEqual([
      ...Array.from({ length: 4 }, () => 'announce_truncation'),
      'end_sessions',
    ])
    for (const { schema, settings } of functions) expect(settings).toEqual([`search_path=${schema}, pg_temp`])
  })

  test.each(['users', 'grants', 'idp', 'notifier'])(
    'an abandoned session of the role for %s holds nothing up: it has limits of time and number',
    async (service) => {
      const sql = asOperator(service)
      try {
        const rows = await sql`select name, setting from pg_settings where source = 'database user' order by name`
        expect(rows.map(({ name, setting }) => [name, Number(setting)])).toEqual([
          ['idle_in_transaction_session_timeout', 30_000],
          ['lock_timeout', 5000],
          ['statement_timeout', 60_000],
          ['transaction_timeout', 120_000],
        ])
        const [role] = await sql`select rolconnlimit from pg_roles where rolname = current_user`
        expect(role).toEqual({ rolconnlimit: 10 })
      } finally {
        await sql.end()
      }
    },
  )

  test('sessions of commands that only read are read-only', async () => {
    const urls = readUrls(there.settings)
    const [reading, writing] = [openSystem(urls), openSystem(urls, true)]
    try {
      const change = (system: typeof reading) => system.sql('idp')`update published set stream_created = stream_created`
      await expect(change(reading)).rejects.toMatchObject({ code: '25006' })
      await change(writing)
    } finally {
      await Promise.all([reading, writing].map((system) => system.close()))
    }
  })

  test('the role for a service reads nothing of another one', async () => {
    const sql = asOperator('idp')
    try {
      await expect(sql`select from roster_users.events`).rejects.toMatchObject(denied)
    } finally {
      await sql.end()
    }
  })

  test("a service's session has its own search path, whatever its role is set to", async () => {
    const ofRole = (setting: string) =>
      there.admin.unsafe(
        `do $$ begin execute format('alter role roster_idp in database %I ${setting}', current_database()); end $$`,
      )
    await ofRole('set search_path = public, pg_catalog')
    const sql = openDatabase(there.servers.serviceDatabaseUrls.idp, 'idp', silent)
    try {
      expect(await sql`select current_schemas(true)::text[] as names`).toEqual([
        { names: ['pg_catalog', 'roster_idp'] },
      ])
    } finally {
      await sql.end()
      await ofRole('set search_path = roster_idp, roster_extensions')
    }
  })
})

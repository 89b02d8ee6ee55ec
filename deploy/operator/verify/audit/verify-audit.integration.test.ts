import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type Checkpoint, makeAuditKey, readCheckpoint, signCheckpoint } from '#lib/eventstore/audit/checkpoint'
import { makePage } from '#lib/eventstore/audit/page'
import { eventColumns } from '#lib/eventstore/feed-rows'
import type { AuditedRow } from '#lib/eventstore/audit/canonical-row'
import { everythingIsSigned } from '#test/support/audited-house'
import { operatorSettings, type Ran, runOperator } from '#test/support/operator'
import { callGrpc } from '../../../../test/e2e/clients/grpc.ts'
import { ok, profile, unique, uniqueEmail } from '../../../../test/examples/people.ts'
import { type House, startHouse } from '../../../../test/house.ts'
import { startTestServers } from '../../../../test/infra.ts'

let started: Awaited<ReturnType<typeof startTestServers>>
let house: House | undefined
let admin: postgres.Sql
let folder: string
let kept: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'roster-kept-'))
  kept = join(folder, 'kept.jsonl')
  started = await startTestServers()
  const { servers } = started
  house = await startHouse(servers.serviceDatabaseUrls, { WRITES_PER_CALLER: '100000', CHECKPOINT_INTERVAL: '1' }, { servers, replicas: 2 }) // prettier-ignore
  admin = postgres(servers.databaseUrl, { max: 2, onnotice: () => {}, connection: { search_path: 'roster_users' } })
}, 120_000)
afterAll(async () => {
  await house?.stop()
  await admin?.end()
  await started?.stop()
  await rm(folder, { recursive: true, force: true })
})

const roster = (...args: string[]): Promise<Ran> => runOperator(args, operatorSettings(started.servers))
const verify = (...args: string[]) => roster('verify', '--audit', '--json', ...args)

async function write(over: AbortSignal): Promise<void> {
  const act = async (operation: 'AddHumanUser' | 'SetEmail' | 'DeleteUser', request: Parameters<typeof callGrpc>[1]) =>
    ok(await callGrpc(operation, request, { url: house!.url, token: house!.adminToken }))
  while (!over.aborted) {
    const { userId } = await act('AddHumanUser', {
      userName: unique('human'),
      profile,
      email: { email: uniqueEmail() },
    })
    await act('SetEmail', { userId: userId!, email: uniqueEmail() })
    await act('DeleteUser', { userId: userId! })
  }
}

test('a healthy Roster has nothing that differs, under load, against checkpoints that were kept before', async () => {
  const over = new AbortController()
  const writing = Promise.all(Array.from({ length: 4 }, () => write(over.signal)))
  try {
    await vi.waitFor(async () => expect((await admin`select from audit_checkpoints`).count).toBeGreaterThan(2), { timeout: 30_000 }) // prettier-ignore
    const { status, out } = await roster('checkpoints')
    expect(status).toBe(0)
    await writeFile(kept, out)
    for (let i = 0; i < 3; i++) {
      const found = await verify('--checkpoints', kept, '--keys', kept)
      expect({ status: found.status, out: found.out }).toEqual({ status: 0, out: '' })
    }
  } finally {
    over.abort()
    await writing
  }
  await everythingIsSigned(admin)
  expect((await roster('verify', '--audit')).out).toMatch(
    /^users: \d+ events in the chain; signed up to event \d+ at /m,
  )
  expect((await roster('verify', '--audit')).out).toMatch(/\nNothing differs\.\n$/)
  expect((await roster('verify')).out).toBe('Nothing differs.\n')
})

describe('an export with proofs', () => {
  const file = () => join(folder, 'export')
  let lines: any[]

  beforeAll(async () => {
    await everythingIsSigned(admin)
    const { status, json } = await roster('export', 'default', '--proof')
    expect(status).toBe(0)
    lines = json()
    // A service may sign once more while the export is written, and the proofs name that checkpoint then.
    await writeFile(kept, (await roster('checkpoints')).out)
  })
  afterAll(() => rm(file(), { force: true }))

  // Without a server: the settings name none.
  async function verifyExport(some: any[]) {
    await writeFile(file(), some.map((line) => `${JSON.stringify(line)}\n`).join(''))
    const ran = await runOperator(['verify', '--audit', '--json', '--export', file(), '--keys', kept], {})
    return { ...ran, found: ran.status === 2 ? [] : ran.json().map(({ row, problem }) => ({ row, problem })) }
  }
  const copy = () => structuredClone(lines)
  const events = (some: any[]) => some.filter(({ kind }) => kind === 'event')
  const named = ({ service, position }: any) => `event ${service}-${position}`

  test('is verified by the public keys alone', async () => {
    expect(events(lines).length).toBeGreaterThan(20)
    expect(await verifyExport(lines)).toMatchObject({ status: 0, out: '' })
  })

  test('holds nothing that tells of the events of others', () => {
    const own = new Set(events(lines).map(({ service, proof }) => `${service} ${proof.page}`))
    expect(lines.filter(({ kind }) => kind === 'page').every((page) => page.salt === undefined)).toBe(true)
    expect(own.size).toBeGreaterThan(0)
  })

  test.each([
    ['payload', { more: 1 }],
    ['creator', 'nobody'],
    ['createdAt', '2020-01-01T00:00:00.000Z'],
    ['aggregateId', 'other'],
  ])('with another %s of an event is found', async (name, value) => {
    const some = copy()
    const event = events(some).findLast(({ service }) => service === 'users')
    event[name] = name === 'payload' ? { ...event[name], ...(value as object) } : value
    const { status, found } = await verifyExport(some)
    expect(status).toBe(1)
    expect(found).toContainEqual({ row: named(event), problem: 'it does not say what is proven' })
  })

  test('with a proof that was made for another text is found', async () => {
    const some = copy()
    const event = events(some).at(-1)
    event.creator = 'nobody'
    event.proof.row = event.proof.row.replace(/"creator":"[^"]*"/, '"creator":"nobody"')
    expect((await verifyExport(some)).found).toEqual([{ row: named(event), problem: 'it is not what its page says' }])
  })

  test('with a missing event of an object, or without its end, is found', async () => {
    const some = copy()
    const { aggregateId: id } = events(some).find(({ sequence }) => sequence === '3')
    const gone = some.findIndex(({ aggregateId, sequence }) => aggregateId === id && sequence === '2')
    const [event] = some.splice(gone, 1)
    const { found } = await verifyExport(some)
    expect(found).toContainEqual({
      row: expect.stringMatching(/^event /),
      problem: `events before it are missing: ${event.aggregateType} ${event.aggregateId}, sequence 2`,
    })
    expect(found).toContainEqual({ row: 'the export', problem: 'it is not whole: lines are missing' })
    expect((await verifyExport(lines.slice(0, -1))).status).toBe(1)
  })

  test('without its checkpoints, or with those of another key, is found', async () => {
    const without = await verifyExport(lines.filter(({ kind }) => kind !== 'checkpoint'))
    expect(without.found).toContainEqual({ row: expect.stringMatching(/^page /), problem: 'no checkpoint signs it' })
    const { key, secret } = makeAuditKey()
    const forged = copy().map((line: any) => {
      if (line.kind !== 'checkpoint') return line
      return { ...line, jws: signCheckpoint(readCheckpoint(line.jws).checkpoint, key.kid, secret) }
    })
    expect((await verifyExport(forged)).found).toContainEqual({
      row: 'a checkpoint',
      problem: 'its signature is not that of a given key',
    })
  })
})

describe('after the database was changed by hand', () => {
  const tables = ['events', 'audit_chain', 'audit_pages', 'audit_checkpoints', 'audit_keys']

  beforeAll(async () => {
    await everythingIsSigned(admin)
    await writeFile(kept, (await roster('checkpoints')).out)
    // What is stopped changes nothing meanwhile.
    await house!.stop()
    house = undefined
    for (const table of tables) await admin.unsafe(`create table kept_${table} as table ${table}`)
  })

  async function expectFound(found: { row: unknown; problem: unknown }[], ...args: string[]) {
    const ran = await verify('users', ...args)
    expect(ran.json().map(({ row, problem }) => ({ row, problem }))).toEqual(found)
    expect(ran.status).toBe(1)
  }

  /** Changes the tables, and restores them after `work`. */
  async function changed(change: () => PromiseLike<unknown>, work: () => Promise<void>) {
    try {
      await change()
      await work()
    } finally {
      await admin.begin(async (sql) => {
        for (const table of tables) {
          await sql.unsafe(`delete from ${table}`)
          await sql.unsafe(`insert into ${table} overriding system value table kept_${table}`)
        }
      })
    }
  }

  async function someEvent(offset = 5): Promise<AuditedRow> {
    const [row] = await admin<AuditedRow[]>`
      select ${eventColumns(admin)} from events where aggregate_type = 'user' and type = 'email.changed'
      order by position offset ${offset} limit 1
    `
    return row ?? expect.fail('there is no such event')
  }

  const event = ({ position }: Pick<AuditedRow, 'position'>) => `events position=${position}`
  const told = ({ aggregate_type, aggregate_id, sequence }: AuditedRow) =>
    `${aggregate_type} ${aggregate_id}, sequence ${sequence}`

  test('an altered, a removed and an inserted event are three findings that name them', async () => {
    const [altered, removed] = [await someEvent(1), await someEvent(6)]
    const inserted = { ...removed, position: '99000000' }
    await changed(
      async () => {
        await admin`update events set payload = jsonb_set(payload, '{email}', '"x@example.com"') where position = ${altered.position}`
        await admin`delete from events where position = ${removed.position}`
        await admin`
          insert into events (position, transaction_id, aggregate_type, aggregate_id, sequence, type, payload,
            organization_id, creator, request_id, created_at)
          overriding system value values (99000000, ${removed.transaction_id}::xid8, 'user', 'nobody', 1, 'locked', '{}',
            'default', '', '', now())
        `
      },
      async () => {
        const ran = await verify('users')
        const found = ran.json().map(({ row, problem }) => ({ row, problem }))
        expect(found).toHaveLength(3)
        expect(found).toContainEqual({ row: event(altered), problem: `it was altered: ${told(altered)}` })
        expect(found).toContainEqual({ row: event(removed), problem: `it was removed; missing is: ${told(removed)}` })
        expect(found).toContainEqual({ row: event(inserted), problem: 'it was inserted: user nobody, sequence 1' })
        expect(ran.status).toBe(1)
      },
    )
  })

  test.each([
    ['aggregate_id', `'other'`],
    ['organization_id', `'other'`],
    ['creator', `'other'`],
    ['request_id', `'other'`],
    ['cause', `'users-1'`],
    ['traceparent', `'00-1'`],
    ['type', `'code.sent'`],
    ['sequence', `1000`],
    ['created_at', `created_at + interval '1 ms'`],
    ['payload', `payload || '{"more": 1}'`],
  ])('an event with another %s is found', async (column, value) => {
    const { position } = await someEvent()
    await changed(
      () => admin.unsafe(`update events set ${column} = ${value} where position = ${position}`),
      () => expectFound([{ row: event({ position }), problem: expect.stringMatching(/^it was altered: /) }]),
    )
  })

  test('an event at another place of the order is found', async () => {
    const [{ position }] = await admin<[{ position: string }]>`
      select max(position)::text as position from events where aggregate_type = 'user' and type = 'email.changed'
    `
    await changed(
      () => admin`update events set transaction_id = '1' where position = ${position}`,
      async () => {
        const found = (await verify('users')).json().map(({ row, problem }) => ({ row, problem }))
        expect(found).toContainEqual({ row: event({ position }), problem: expect.stringMatching(/^it was inserted/) })
        expect(found).toContainEqual({ row: event({ position }), problem: expect.stringMatching(/^it was moved/) })
        expect(found).toHaveLength(2)
      },
    )
  })

  const number = 2
  const checkpoint = `audit_checkpoints number=${number}`

  test('a checkpoint with a wrong signature is found', async () => {
    await changed(
      async () => {
        const [row] = await admin`select jws from audit_checkpoints where number = ${number}`
        const other = await admin`select jws from audit_checkpoints where number = 1`
        const jws = [...row!['jws'].split('.').slice(0, 2), other[0]!['jws'].split('.')[2]].join('.')
        await admin`update audit_checkpoints set jws = ${jws} where number = ${number}`
      },
      () =>
        expectFound([
          { row: checkpoint, problem: 'its signature is not that of its key' },
          { row: 'audit_checkpoints number=3', problem: 'it does not name the one before it' },
        ]),
    )
  })

  test('a missing checkpoint is found, and a missing last one by those that were kept', async () => {
    await changed(
      () => admin`delete from audit_checkpoints where number = ${number}`,
      () => expectFound([{ row: 'audit_checkpoints number=3', problem: '2 is missing before it' }]),
    )
    const [{ last }] = await admin<[{ last: number }]>`select max(number)::int as last from audit_checkpoints`
    await changed(
      () => admin`delete from audit_checkpoints where number = ${last}`,
      async () => {
        expect((await verify('users')).status).toBe(0)
        const missing = { row: `audit_checkpoints number=${last}`, problem: 'it is missing, and was kept elsewhere' }
        await expectFound([missing], '--checkpoints', kept)
      },
    )
  })

  test.each([
    ['a page was removed', 'delete from audit_pages where number = 2', '2 is missing before it'],
    [
      'entries of a page were altered',
      'update audit_pages set entries = set_byte(entries, 39, 255 - get_byte(entries, 39)) where number = 3',
      'its entries were altered',
    ],
    [
      'a page tells of another one before it',
      `update audit_pages set header = replace(header, '"previous":"', '"previous":"0') where number = 3`,
      'it does not name the one before it',
    ],
  ])('%s: found', async (_, change, problem) => {
    await changed(
      () => admin.unsafe(change),
      async () => {
        const found = (await verify('users')).json().map(({ row, problem: is }) => ({ row, problem: is }))
        expect(found).toContainEqual({ row: 'audit_pages number=3', problem })
      },
    )
  })

  /** Makes chain and checkpoints anew, as the owner of the database can: with a key of his own. */
  async function signAnew() {
    const rows = await admin<AuditedRow[]>`
      select ${eventColumns(admin)} from events order by events.transaction_id, events.position
    `
    const page = makePage(
      'users',
      { epoch: 1, page: 0, events: 0, hash: '', transactionId: '0', position: '0' },
      rows,
      'salt',
    )
    const { key, secret } = makeAuditKey()
    const { last, events } = page.header
    await admin`delete from audit_pages`
    await admin`delete from audit_checkpoints`
    await admin`delete from audit_keys`
    await admin`insert into audit_keys values (${key.kid}, ${admin.json({ ...key })}, null)`
    await admin`
      insert into audit_pages
      values (1, ${page.headerText}, 'salt', ${page.entries}::bytea, ${last.transactionId}::xid8, ${last.position})
    `
    await admin`update audit_chain set page = 1, hash = ${page.hash}`
    const [first] = await admin<[{ jws: string }]>`select jws from kept_audit_checkpoints order by number limit 1`
    const forged: Checkpoint = { ...readCheckpoint(first.jws).checkpoint, page: 1, hash: page.hash, last, events }
    await admin`
      insert into audit_checkpoints values (1, ${signCheckpoint(forged, key.kid, secret)}, 1, 1,
        ${last.transactionId}::xid8, ${last.position}, now())
    `
  }

  test('a history that was signed anew is whole in itself, and contradicts what was kept', async () => {
    const { position } = await someEvent()
    await changed(
      async () => {
        await admin`update events set creator = 'nobody' where position = ${position}`
        await signAnew()
      },
      async () => {
        expect(await verify('users')).toMatchObject({ status: 0, out: '' })
        const found = (await verify('users', '--checkpoints', kept)).json()
        expect(found).toContainEqual({ service: 'users', row: 'audit_checkpoints number=1', problem: 'it is not the one that was kept' }) // prettier-ignore
        expect(found).toContainEqual(expect.objectContaining({ row: 'kept checkpoint number=2' }))
        const byKey = (await verify('users', '--keys', kept)).json()
        expect(byKey).toContainEqual({ service: 'users', row: 'audit_checkpoints number=1', problem: 'its key is none of the given ones' }) // prettier-ignore
      },
    )
  })

  test('a chain that began anew after the last kept checkpoint is found', async () => {
    await changed(
      () => admin`select audit_begin('no reason')`,
      async () => {
        const found = (await verify('users', '--checkpoints', kept)).json()
        expect(found).toContainEqual({
          service: 'users',
          row: 'audit_chain',
          problem: 'it began anew (epoch 2), and no kept checkpoint knows of that',
        })
      },
    )
  })

  test('a chain that is held is told, and nothing of what it signed before', async () => {
    await changed(
      () => admin`select audit_hold()`,
      () => expectFound([{ row: 'audit_chain', problem: 'it is held: stored events are being changed' }]),
    )
  })

  test('what differs from no checkpoint is told where everything is restored', async () => {
    const ran = await verify('users', '--checkpoints', folder, '--keys', kept)
    expect(ran).toMatchObject({ status: 0, out: '' })
  })
})

test('--checkpoints names a file that is there and has checkpoints', async () => {
  expect((await verify('--checkpoints', join(folder, 'none'))).status).toBe(2)
  await writeFile(join(folder, 'empty'), '{}\n')
  expect((await verify('--checkpoints', join(folder, 'empty'))).err).toContain('has no checkpoint')
  await rm(join(folder, 'empty'))
  expect((await roster('verify', '--checkpoints', kept)).err).toContain('go with --audit')
})

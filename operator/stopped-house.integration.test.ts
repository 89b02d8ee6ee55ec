import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, headers } from 'nats'
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { type Checkpoint, makeAuditKey, readCheckpoint, signCheckpoint } from '#lib/audit-log/checkpoint'
import { encodeEvent } from '#lib/events/cloud-event'
import { subjectOf } from '#lib/outbox/publish'
import { eventColumns } from '#lib/eventstore/event-page'
import type { StoredEvent } from '#lib/events/stored-event'
import { streamName } from '#lib/events/stream'
import { type AuditedHouse, startAuditedHouse } from '#test/support/audited-house'
import { answerOperator, operatorSettings, runOperator } from '#test/support/operator'
import { commands } from './commands.ts'
import { openProver } from './export/prove-events.ts'

// What the command says of a Roster that was stopped.

let house: AuditedHouse

beforeAll(async () => {
  house = await startAuditedHouse()
}, 120_000)
afterAll(() => house?.stop())

describe('checkpoints', () => {
  const keep = (...lines: object[]) => house.keep('more.jsonl', ...lines)
  async function some(number: number) {
    const lines = (await readFile(house.kept, 'utf8')).split('\n').flatMap((line) => (line ? [JSON.parse(line)] : []))
    const users = lines.filter(({ service }) => service === 'users')
    return users.filter((line) => line.kind === 'key' || line.number <= number)
  }

  test('checkpoints that are kept count for the service that was asked', async () => {
    const [key, one] = await some(1)
    const own = makeAuditKey()
    const { checkpoint } = readCheckpoint(one.jws)
    const forged = signCheckpoint({ ...checkpoint, hash: 'x' }, own.key.kid, own.secret)
    const file = await keep(
      key,
      one,
      { kind: 'key', service: 'grants', key: own.key },
      { kind: 'checkpoint', service: 'grants', number: 1, jws: forged },
    )
    expect(await house.found('users', '--checkpoints', file)).toEqual([])
    const grants = await house.roster('verify', '--audit', 'grants', '--checkpoints', file)
    expect(grants.status).toBe(1)
    expect(grants.out).toContain('grants: kept checkpoint number=1: it names another service')
    // The key of one service signs nothing of another one.
    await keep({ kind: 'key', service: 'grants', key: key.key }, one)
    expect((await house.found('users', '--keys', file))[0]!.problem).toBe('its key is none of the given ones')
  })

  test('checkpoints go on from those that were kept, or nothing is written', async () => {
    const { admin, changed, roster } = house
    const all = await some(1000)
    const file = await keep(...(await some(2)))
    const ran = await roster('checkpoints', 'users', '--after', file)
    expect(ran.status).toBe(0)
    expect(ran.json().filter(({ kind }) => kind === 'checkpoint')).toEqual(all.filter(({ number }) => number > 2))
    const refused = async (problem: string, ...more: string[]) => {
      const { status, out, err } = await roster('checkpoints', 'users', '--after', file, ...more)
      expect({ status, out }).toEqual({ status: 1, out: '' })
      expect(err).toContain(problem)
    }
    await changed(
      () => admin`delete from audit_checkpoints where number = 3`,
      () => refused('3 is missing before it'),
    )
    await changed(
      () => admin`delete from audit_checkpoints where number >= 2`,
      () => refused('it is not the one that was kept'),
    )
    const { key, secret } = makeAuditKey()
    const third = all.find(({ number }) => number === 3)
    const forge = (other: Partial<Checkpoint>) => async () => {
      const jws = signCheckpoint({ ...readCheckpoint(third.jws).checkpoint, ...other }, key.kid, secret)
      await admin`delete from audit_checkpoints where number > 3`
      await admin`update audit_checkpoints set jws = ${jws} where number = 3`
      await admin`insert into audit_keys (kid, public_key) values (${key.kid}, ${admin.json({ ...key })})`
    }
    await changed(forge({}), () => refused('no checkpoint before it names its key'))
    await changed(forge({ previous: 'x' }), () => refused('it does not name the one before it'))
    await changed(forge({ service: 'grants' }), async () => {
      await refused('it stands in the place of another one')
      expect(await roster('checkpoints', 'users')).toMatchObject({ status: 1, out: '' })
    })
    await changed(forge({ epoch: 2, reason: 'x' }), () => refused('add --accept-epoch 2'))
  })

  test('a new epoch is written only where somebody accepts it', async () => {
    const { admin, changed, roster } = house
    const { key, secret } = makeAuditKey()
    const [, first] = await some(1)
    const one = readCheckpoint(signCheckpoint(readCheckpoint(first.jws).checkpoint, key.kid, secret))
    const { number, page } = one.checkpoint
    const anew: Checkpoint = {
      ...one.checkpoint,
      number: number + 1,
      previous: one.hash,
      page: page + 1,
      epoch: 2,
      reason: 'sealed',
    }
    const jws = signCheckpoint(anew, key.kid, secret)
    const file = await keep({ kind: 'key', service: 'users', key }, { ...first, jws: one.jws })
    await changed(
      async () => {
        await admin`delete from audit_checkpoints where number > 2`
        await admin`update audit_checkpoints set jws = ${one.jws} where number = 1`
        await admin`update audit_checkpoints set jws = ${jws} where number = 2`
        await admin`insert into audit_keys (kid, public_key) values (${key.kid}, ${admin.json({ ...key })})`
      },
      async () => {
        const write = (...more: string[]) => roster('checkpoints', 'users', '--after', file, ...more)
        for (const more of [[], ['--accept-epoch', '1']])
          expect(await write(...more)).toMatchObject({
            status: 1,
            out: '',
            err: expect.stringContaining(
              'number=2: the audit chain started a new epoch. If you know why, add --accept-epoch 2',
            ),
          })
        const { status, json } = await write('--accept-epoch', '2')
        expect(status).toBe(0)
        expect(json().slice(-1)).toEqual([{ kind: 'checkpoint', service: 'users', number: 2, jws }])
        expect(await write('--accept-epoch', 'two')).toMatchObject({ status: 2, out: '' })
      },
    )
  })

  test.each([
    ['is kept', 2],
    ['comes next', 1],
  ])('a checkpoint of the year 2999 that %s is reported, and those after it are written', async (_, number) => {
    const { admin, changed, roster } = house
    const all = (await some(1000)).filter(({ kind }) => kind === 'checkpoint')
    const { key, secret } = makeAuditKey()
    const signed: { kind: string; service: string; number: number; jws: string }[] = []
    let previous = ''
    for (const line of all) {
      const { checkpoint } = readCheckpoint(line.jws)
      const at = line.number === 2 ? '2999-01-01T00:00:00.000Z' : checkpoint.at
      const { jws, hash } = readCheckpoint(signCheckpoint({ ...checkpoint, at, previous }, key.kid, secret))
      signed.push({ ...line, jws })
      previous = hash
    }
    const file = await keep({ kind: 'key', service: 'users', key }, ...signed.slice(0, number))
    await changed(
      async () => {
        await admin`update audit_keys set kid = ${key.kid}, public_key = ${admin.json({ ...key })}`
        for (const one of signed)
          await admin`update audit_checkpoints set jws = ${one.jws} where number = ${one.number}`
      },
      async () => {
        const { status, err, json } = await roster('checkpoints', 'users', '--after', file)
        expect(status).toBe(1)
        expect(err).toContain('users: audit_checkpoints number=3: its time is before that of one before it\n')
        expect(err.includes('users: audit_checkpoints number=2: its time is to come, or none\n')).toBe(number < 2)
        expect(err).not.toContain('Nothing was written')
        expect(json().filter(({ kind }) => kind === 'checkpoint')).toEqual(signed.slice(number))
      },
    )
  })

  test("a key that signed nothing is not written beside kept checkpoints: it may be anybody's", async () => {
    const { admin, changed, roster } = house
    const file = await keep(...(await some(2)))
    const { key } = makeAuditKey()
    const [known] = await some(0)
    await changed(
      () => admin`insert into audit_keys (kid, public_key) values (${key.kid}, ${admin.json({ ...key })})`,
      async () => {
        const { status, json } = await roster('checkpoints', 'users', '--after', file)
        expect(status).toBe(0)
        expect(json().filter(({ kind }) => kind === 'key')).toEqual([known])
      },
    )
  })

  test('checkpoints that were kept are looked at by themselves, too', async () => {
    const [key, one] = await some(1)
    const own = makeAuditKey()
    const forged = signCheckpoint({ ...readCheckpoint(one.jws).checkpoint, hash: 'x' }, own.key.kid, own.secret)
    const found = async (...lines: object[]) => house.found('users', '--checkpoints', await keep(...lines))
    const row = 'kept checkpoint number=1'
    expect(await found(key, one, { ...one, jws: forged })).toEqual([
      { row, problem: 'two of this number were kept, and they differ' },
    ])
    expect(await found(key, { ...one, jws: forged })).toEqual([
      { row: 'audit_checkpoints number=1', problem: 'it is not the one that was kept' },
      { row, problem: 'its signature is not that of a known key' },
    ])
    expect(await found(key, { ...one, number: 2 })).toContainEqual({
      row: 'kept checkpoint number=2',
      problem: 'it has another number',
    })
  })

  test('after a change of keys, the new one is written beside the kept one, which names it', async () => {
    const { admin, changed, roster } = house
    const [, first] = await some(1)
    const [one, two, stranger] = [makeAuditKey(), makeAuditKey(), makeAuditKey()]
    const { checkpoint } = readCheckpoint(first.jws)
    const naming = signCheckpoint({ ...checkpoint, nextKey: two.key.kid }, one.key.kid, one.secret)
    const next = readCheckpoint((await some(2)).at(-1).jws).checkpoint
    const followed = signCheckpoint({ ...next, previous: readCheckpoint(naming).hash }, two.key.kid, two.secret)
    const file = await keep({ kind: 'key', service: 'users', key: one.key }, { ...first, jws: naming })
    await changed(
      async () => {
        await admin`delete from audit_keys`
        for (const { key } of [one, two, stranger])
          await admin`insert into audit_keys (kid, public_key) values (${key.kid}, ${admin.json({ ...key })})`
        await admin`delete from audit_checkpoints where number > 2`
        await admin`update audit_checkpoints set jws = ${naming} where number = 1`
        await admin`update audit_checkpoints set jws = ${followed} where number = 2`
      },
      async () => {
        const { status, json } = await roster('checkpoints', 'users', '--after', file)
        expect(status).toBe(0)
        const kids: string[] = json().flatMap(({ kind, key }) => (kind === 'key' ? [key.kid] : []))
        expect(kids.toSorted()).toEqual([one.key.kid, two.key.kid].toSorted())
      },
    )
  })
})

describe('an export with proofs', () => {
  let lines: any[]
  beforeAll(async () => {
    const { status, json } = await house.roster('export', 'default', '--proof')
    expect(status).toBe(0)
    lines = json()
  })

  // Without a server: the settings name none.
  async function verifyExport(some: any[]) {
    const file = join(house.folder, 'export')
    await writeFile(file, some.map((line) => `${JSON.stringify(line)}\n`).join(''))
    const ran = await runOperator(['verify', '--audit', '--json', '--export', file, '--keys', house.kept], {})
    await rm(file)
    return { ...ran, found: ran.status === 2 ? [] : ran.json().map(({ row, problem }) => ({ row, problem })) }
  }
  const events = (some: any[]) => some.filter(({ kind }) => kind === 'event')
  const named = ({ service, position }: any) => `event ${service}-${position}`

  test('an export is verified by the public keys alone', async () => {
    expect(events(lines).length).toBeGreaterThan(20)
    expect(await verifyExport(lines)).toMatchObject({ status: 0, out: '' })
  })

  test('an export holds nothing of the events of others', () => {
    const own = new Set(events(lines).map(({ service, proof }) => `${service} ${proof.page}`))
    expect(own.size).toBeGreaterThan(0)
    expect(
      lines.filter(({ kind }) => kind === 'entries').every(({ service, page }) => own.has(`${service} ${page}`)),
    ).toBe(true)
    expect(lines.every((line) => line.salt === undefined && line.header?.includes('salt') !== true)).toBe(true)
  })

  test.each([
    ['payload', { more: 1 }],
    ['creator', 'no-one'],
    ['createdAt', '2020-01-01T00:00:00.000Z'],
    ['aggregateId', 'other'],
  ])('an export with another %s of an event is found', async (name, value) => {
    const some = structuredClone(lines)
    const event = events(some).findLast(({ service }) => service === 'users')
    event[name] = name === 'payload' ? { ...event[name], ...(value as object) } : value
    const { status, found } = await verifyExport(some)
    expect(status).toBe(1)
    expect(found).toContainEqual({ row: named(event), problem: 'it does not say what is proven' })
  })

  test('an export with a missing event of an object, or without its end, is found', async () => {
    const some = structuredClone(lines)
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

  test('an export that is made in many portions has each page, its entries and each checkpoint once', async () => {
    await house.changed(
      // One checkpoint signs all pages, so the first portion has the headers of all.
      () => house.admin`delete from audit_checkpoints where page < (select page from audit_chain)`,
      async () => {
        const prover = await openProver(house.admin as never, 'users')
        const stored = await house.admin<StoredEvent[]>`
        select ${eventColumns(house.admin as never)} from events where organization_id = 'default'
        order by events.transaction_id, events.position
      `
        const some = lines.filter(
          ({ kind, service }) => kind === 'export' || (service === 'users' && kind === 'object'),
        )
        for (const row of stored) {
          for await (const line of prover!.lines([row])) some.push(line)
          const exported = events(lines).find(
            ({ service, position }) => service === 'users' && position === row.position,
          )
          some.push({ ...exported, proof: prover!.proofOf(row) })
        }
        const objects = some.filter(({ kind }) => kind === 'object').length
        some.push({ kind: 'end', events: stored.length, objects })
        expect(new Set(events(some).map(({ proof }) => proof.page)).size).toBeGreaterThan(1)
        expect(await verifyExport(JSON.parse(JSON.stringify(some)))).toMatchObject({ status: 0, out: '' })
      },
    )
  })
})

describe('at a terminal', () => {
  let folder: string
  beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), 'roster-terminal-test-'))))
  afterAll(() => rmSync(folder, { recursive: true }))
  afterEach(() => house.admin`truncate parked_events, parked_for_followers`.then(() => {}))

  const roster = (...args: string[]) => house.roster(...args)
  const answer = (text: string, ...args: string[]) => answerOperator(text, args, operatorSettings(house.servers))
  const park = () => house.admin`insert into parked_events (position, reason) values (1, 'a reason'), (2, 'a reason')`
  const deadLetters = async () => [
    ...(await house.admin`select position::int, retry from parked_events order by position`),
  ]
  const [one, two] = [
    { position: 1, retry: false },
    { position: 2, retry: false },
  ]

  test.each([
    ['yes\n', 0, 'users-1: done\n', [two]],
    ['no\n', 2, '', [one, two]],
    ['\n', 2, '', [one, two]],
    ['', 2, '', [one, two]],
  ])('at a terminal, the answer %j to the question ends with %i', async (text, status, out, left) => {
    await park()
    const ran = await answer(text, 'parked', 'drop', 'users-1')
    expect(ran).toMatchObject({ status, out })
    expect(ran.err).toContain('One event will never reach the stream or the follower. Type yes to go on: ')
    expect(await deadLetters()).toEqual(left)
  })

  test.each(['drop', 'retry'])('parked %s takes either IDs or --all, and else does nothing', async (name) => {
    await park()
    const ran = await roster('parked', name, 'users-1', '--all', '--yes')
    expect(ran).toMatchObject({ status: 2, out: '', err: expect.stringContaining('Nothing was done') })
    expect(await deadLetters()).toEqual([one, two])
  })

  test('verify writes its progress to the standard error, and removes it from a terminal', async () => {
    const { out, err } = await roster('verify', 'grants', '--without-stream')
    expect(out).toBe('Nothing differs.\n')
    expect(err).toMatch(/^grants: \d+ of \d+ objects\n/)
    const shown = await answer('', 'verify', 'grants', '--without-stream')
    expect(shown).toMatchObject({ out, err: expect.stringMatching(/^grants: \d+ of \d+ objects/) })
    expect(shown.err.endsWith('\r\u001B[K')).toBe(true)
  })

  describe('with --json, nothing but JSON is on the standard output', () => {
    /** The arguments behind each command's name, and the fields of the first line. */
    const calls: Record<string, [args: () => string[] | Promise<string[]>, fields: string[]]> = {
      status: [() => [], ['attention', 'tails']],
      'parked list': [() => [], ['id', 'reason']],
      'parked retry': [() => ['--all'], ['id', 'done']],
      'parked drop': [() => ['--all', '--yes'], ['id', 'done']],
      republish: [() => ['notifier', '--yes'], ['service', 'sent']],
      'history show': [lost, ['service', 'id', 'type', 'object', 'organizationId', 'time']],
      'history reconcile': [async () => [...(await lost()), '--yes'], ['service', 'removed', 'organizations']],
      verify: [withFinding, ['service', 'row', 'problem']],
      checkpoints: [() => ['users'], ['kind']],
      export: [() => ['default'], ['kind', 'organization']],
      forgotten: [async () => [await anyUser()], ['user', 'forgotten', 'stores']],
      receipt: [receipt, ['verified']],
      'keys rotate': [rotation, ['step', 'next']],
      'sessions end': [() => ['--yes'], ['ended']],
      'removals repeat': [removal, ['type', 'id', 'outcome']],
      'setup schema': [() => [], ['title', 'properties']],
    }
    /** They call a gateway: test/e2e/setup-file. */
    const online = ['setup apply', 'setup check', 'setup export']

    test('of every command', () =>
      expect([...Object.keys(calls), ...online].toSorted()).toEqual(commands.map(({ name }) => name).toSorted()))

    test.each(Object.entries(calls))('of %s', async (name, [args, fields]) => {
      await park()
      const { status, json } = await roster(...name.split(' '), ...(await args()), '--json')
      expect(status).not.toBe(2)
      const [first] = json()
      expect(Object.keys(first)).toEqual(expect.arrayContaining(fields))
    })

    const anyUser = async () =>
      String((await house.admin`select id from aggregates where type = 'user' limit 1`)[0]!['id'])

    async function withFinding() {
      await house.admin`delete from unique_keys where aggregate_id in (select id from aggregates where type = 'user' limit 1)`
      return ['users', '--without-stream']
    }

    /** Publishes an event that the database lacks. */
    async function lost(): Promise<string[]> {
      const nats = await adminNats()
      const published = headers()
      for (const [name, value] of Object.entries({
        id: 'users-999999',
        type: 'roster.user.removed.v1',
        organization: 'default',
      }))
        published.set(`ce-${name}`, value)
      const { seq } = await nats
        .jetstream()
        .publish('roster.events.users.default.user.lost.removed', '', { headers: published })
      await nats.close()
      const ahead = { from: 0, to: seq, lastPosition: 1, isAnnounced: false, since: '2026-01-01T00:00:00Z' }
      await house.admin`update published set ahead = ${house.admin.json(ahead)}`
      return ['users']
    }

    function receipt(): string[] {
      const files = ['receipt', 'keys.json'].map((name) => join(folder, name))
      writeFileSync(files[0]!, 'no receipt')
      writeFileSync(files[1]!, '{"keys":[]}')
      return files
    }

    /** The stream knows that somebody was locked, and the database does not. The gateway that is asked knows nobody. */
    async function removal(): Promise<string[]> {
      const [made] = await house.admin<StoredEvent[]>`
        select ${eventColumns(house.admin)} from events where aggregate_type = 'user' limit 1
      `
      const row = { ...made!, type: 'locked', payload: {}, position: '999998', sequence: '99' }
      const { head, data } = encodeEvent('users', row)
      const published = headers()
      for (const line of head.trim().split('\r\n')) published.set(...(line.split(': ', 2) as [string, string]))
      const nats = await adminNats()
      await nats.jetstream().publish(subjectOf('users', row), data, { headers: published })
      await nats.close()
      const gateway = createServer((_, response) => response.writeHead(404).end('{"code":"not_found"}'))
      await once(gateway.listen(0, '127.0.0.1'), 'listening')
      onTestFinished(() => void gateway.close())
      const { port } = gateway.address() as AddressInfo
      return ['--token-file', await house.keep('token'), '--url', `http://127.0.0.1:${port}`, '--yes']
    }

    function rotation(): string[] {
      const file = join(folder, 'root')
      writeFileSync(file, 'x'.repeat(43))
      return ['--root', file]
    }
  })
})

function adminNats() {
  const { host, username, password } = new URL(house.servers.natsUrl.admin)
  return connect({ servers: host, user: username, pass: password })
}

/** As in an empty NATS beside a restored database. */
async function emptyStream(): Promise<void> {
  const admin = await adminNats()
  const { streams } = await admin.jetstreamManager()
  const { config } = await streams.info(streamName)
  await streams.delete(streamName)
  await streams.add(config)
  await admin.close()
}

test('verify reads a stream that never had a message, and names the events that it lacks', async () => {
  await emptyStream()
  const { status, out, err } = await house.roster('verify')
  expect({ status, err }).toMatchObject({ status: 1, err: expect.not.stringContaining('bad request') })
  expect(out).toMatch(/^grants: events position=1: the stream does not have it$/m)
})

test('beside an empty stream, the steps after a restore say what it cannot know, and need no more of it', async () => {
  await emptyStream()
  const repeated = await house.roster('removals', 'repeat', '--token-file', await house.keep('token'))
  expect(repeated).toMatchObject({ status: 0, out: '' })
  expect(repeated.err).toMatch(
    /^The stream began at 20\S+Z, and has no event that the database lacks\. What was removed before that, only receipts tell\.\n/,
  )
  const shown = await house.roster('history', 'show')
  expect(shown).toMatchObject({ status: 0, out: 'The stream has no event that the database lacks.\n' })
  expect(await house.roster('checkpoints', '--after', house.kept)).toMatchObject({ status: 0, err: '' })
})

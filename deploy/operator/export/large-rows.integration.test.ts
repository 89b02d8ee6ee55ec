import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AuditedHouse, startAuditedHouse } from '#test/support/audited-house'
import { fewerOf, isLong } from '#test/support/long'

let house: AuditedHouse

beforeAll(async () => {
  house = await startAuditedHouse()
}, 120_000)
afterAll(() => house?.stop())

const megabytes = 128
const end = { kind: 'end', events: expect.any(Number), objects: expect.any(Number) }
const large = `jsonb_build_object('x', repeat('x', 100000000))`
/** A text of 570 MB, which is longer than any of JavaScript. */
const alone = `jsonb_build_object('x', repeat(chr(1), 95000000))`
/** The last event of the organization `default`. */
const last = `(select max(position) from events where organization_id = 'default')`

test.each(
  fewerOf(1, [
    [
      'numbers of many digits',
      `update events set payload = (select jsonb_build_object('x', jsonb_agg(1e131000)) from generate_series(1, 500)) where position = ${last}`,
    ],
    ['payloads', `update events set payload = ${large} where position > ${last} - 6`],
    ['creators', `update events set creator = repeat('x', 540000000) where position = ${last}`],
    [
      'ids of objects',
      `alter table events drop constraint events_aggregate_type_aggregate_id_sequence_key;
      update events set aggregate_id = repeat('x', 540000000)
      where position = (select max(position) from events where organization_id = 'default' and sequence > 1)`,
      `alter table events add unique (aggregate_type, aggregate_id, sequence)`,
    ],
  ]),
)('an export has a marked line in place of events with large %s, and all others', async (_, change, restore = '') => {
  const whole = (await house.roster('export', 'default')).json()
  const changed = async () => {
    await house.admin.unsafe(change)
    const { status, err, json } = await house.rosterWithin(megabytes, 'export', 'default')
    const lines = json()
    const positions = await house.admin<{ position: string }[]>`
      select position::text from events
      where organization_id = 'default' and octet_length(payload::text) + octet_length(creator) + octet_length(aggregate_id) > 8388608
      order by transaction_id, events.position
    `
    expect(positions.length).toBeGreaterThan(0)
    const omitted = lines.filter(({ kind }) => kind === 'omitted')
    expect(omitted).toEqual(
      positions.map(({ position }) => {
        return { kind: 'omitted', service: 'users', table: 'events', position, bytes: expect.any(Number) }
      }),
    )
    for (const { bytes } of omitted) expect(bytes).toBeGreaterThan(60_000_000)
    expect(status).toBe(1)
    expect(err).toContain(`users: ${omitted.length} rows are left out, because they are larger than any of Roster; the first is events position="${positions[0]!.position}", of ${omitted[0].bytes} bytes\n`) // prettier-ignore
    expect(lines.at(-1)).toEqual({ ...end, omitted: omitted.length })
    const named = ({ kind, service, position, id }: any) => ['event', 'object'].includes(kind) && [service, kind, position ?? id].join() // prettier-ignore
    const gone = new Set(positions.map(({ position }) => `users,event,${position}`))
    // A page ends sooner where one is large, and so its objects come sooner.
    expect(new Set(lines.map(named).filter(Boolean))).toEqual(
      new Set(whole.map(named).filter((name) => name && !gone.has(name))),
    )
  }
  await house
    .changed(() => Promise.resolve(), changed)
    .finally(() => (restore === '' ? undefined : house.admin.unsafe(restore)))
})

test.runIf(isLong)(
  'an export has a marked line in place of an object with a large state (with ROSTER_TEST_LONG, since it takes a minute)',
  async () => {
    const { admin, changed, rosterWithin } = house
    const [object] = await admin`select type, id from aggregates where organization_id = 'default' limit 1`
    await changed(
      () =>
        admin.unsafe(`update aggregates set state = ${alone} where type = $1 and id = $2`, [
          object!['type'],
          object!['id'],
        ]),
      async () => {
        const { status, err, json } = await rosterWithin(megabytes, 'export', 'default')
        const omitted = json().filter(({ kind }) => kind === 'omitted')
        expect(omitted).toEqual([
          { kind: 'omitted', service: 'users', table: 'aggregates', ...object, bytes: expect.any(Number) },
        ])
        expect(status).toBe(1)
        expect(err).toContain('users: 1 rows are left out')
        expect(json().at(-1)).toEqual({ ...end, omitted: 1 })
      },
    )
  },
)

test.runIf(isLong)(
  'an export has events and objects that fill the memory only together (with ROSTER_TEST_LONG, since it takes a minute)',
  { timeout: 120_000 },
  async () => {
    await house.changed(
      () =>
        house.admin.unsafe(`
        with large as materialized (select jsonb_build_object('x', repeat('x', 8000000)) as value), added as (
          insert into events (position, transaction_id, aggregate_type, aggregate_id, sequence, type, payload, organization_id,
            creator, request_id, created_at) overriding system value
          select 90000000 + n, '3', 'user', 'nobody-' || n, 1, 'locked', value, 'default', '', '', now()
          from generate_series(1, 12) n, large
        )
        insert into aggregates (type, id, organization_id, sequence, created_at, changed_at, state)
        select 'user', 'nobody-' || n, 'default', 1, now(), now(), value from generate_series(1, 12) n, large
      `),
      async () => {
        const { status, err, json } = await house.rosterWithin(megabytes, 'export', 'default')
        expect({ status, err: err.replaceAll(/^[a-z]+: \d+ events, \d+ objects\n/gm, '') }).toEqual({
          status: 0,
          err: '',
        })
        const some = json().filter(({ id, aggregateId }) => String(id ?? aggregateId).startsWith('nobody-'))
        expect(some).toHaveLength(24)
        for (const { payload, state } of some) expect((payload ?? state).x).toHaveLength(8_000_000)
      },
    )
  },
)

test('an export with a marked line is verified up to that line, which is a finding', async () => {
  const { admin, changed, folder, kept, roster } = house
  const file = join(folder, 'export')
  const [{ position }] = await admin.unsafe<[{ position: string }]>(`select ${last}::text as position`)
  await changed(
    () => admin.unsafe(`update events set payload = ${large} where position = ${last}`),
    async () => {
      const { status, out } = await roster('export', 'default', '--proof')
      expect(status).toBe(1)
      await writeFile(file, out)
    },
  )
  const { status, out } = await roster('verify', '--audit', '--export', file, '--keys', kept)
  await rm(file)
  expect(status).toBe(1)
  expect(out.split('\n').filter((line) => line.startsWith('users: '))).toEqual([
    expect.stringMatching(`^users: event users-${position}: it was left out: a row of events has \\d+ bytes, more than any of Roster$`), // prettier-ignore
  ])
})

test.each(
  fewerOf(1, [
    [
      'a salt',
      `update audit_pages set salt = repeat('x', 540000000) where number = 2`,
      'audit_pages number=2: its salt has 540000000 bytes, more than any of Roster',
    ],
    [
      'entries',
      `update audit_pages set entries = decode(repeat('00', 270000000), 'hex') where number = 2`,
      'audit_pages number=2: its list of entries has 270000000 bytes, more than any of Roster',
    ],
    [
      'a header',
      `update audit_pages set header = repeat(' ', 540000000) where number = 2`,
      'audit_pages number=2: its header has 540000000 bytes, more than any of Roster',
    ],
    [
      'a checkpoint',
      `update audit_checkpoints set jws = repeat('x', 540000000) where page = (select min(page) from audit_checkpoints)`,
      'audit_checkpoints number=1 has 540000000 bytes, more than any of Roster',
    ],
  ]),
)('an export with proofs names %s that would fill the memory, has the other services, and no end', async (...each) => {
  const [, change, problem] = each
  await house.changed(
    () => house.admin.unsafe(change),
    async () => {
      const { status, err, json } = await house.rosterWithin(megabytes, 'export', 'default', '--proof')
      expect({ status, err }).toEqual({ status: 2, err: expect.stringContaining(`users: ${problem}\nThe export is not whole.\n`) }) // prettier-ignore
      expect(json().some(({ kind, service }) => kind === 'event' && service === 'grants')).toBe(true)
      expect(json().some(({ kind }) => kind === 'end')).toBe(false)
    },
  )
})

test('an export has a user whose key would fill the memory as one whom nobody can read', async () => {
  const { admin, rosterWithin } = house
  const keys = await admin`select subject_id as id, wrapped from subject_keys limit 1`
  for (const { id } of keys)
    await admin`update subject_keys set wrapped = decode(repeat('00', 270000000), 'hex') where subject_id = ${id}`
  try {
    const { status, json } = await rosterWithin(megabytes, 'export', 'default')
    expect(status).toBe(0)
    for (const { id } of keys)
      expect(json().find((line) => line.kind === 'object' && line.id === id)).toMatchObject({ unreadable: true })
  } finally {
    for (const { id, wrapped } of keys)
      await admin`update subject_keys set wrapped = ${wrapped} where subject_id = ${id}`
  }
})

test('an export names a sealed secret that would fill the memory, and has the other services', async () => {
  const { admin, rosterWithin } = house
  const [{ secret }] = await admin<[{ secret: Buffer }]>`select secret from sealing`
  await admin`update sealing set secret = decode(repeat('00', 300000000), 'hex')`
  try {
    const { status, err, json } = await rosterWithin(megabytes, 'export', 'default')
    expect(status).toBe(2)
    expect(err).toContain('users: the secret in the table sealing has 300000000 bytes, more than any of Roster\n')
    expect(json().some(({ kind, service }) => kind === 'event' && service === 'grants')).toBe(true)
  } finally {
    await admin`update sealing set secret = ${secret}`
  }
})

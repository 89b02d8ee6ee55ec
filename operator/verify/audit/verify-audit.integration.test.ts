import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Checkpoint, makeAuditKey, readCheckpoint, signCheckpoint } from '#lib/audit-log/checkpoint'
import { eventColumns } from '#lib/eventstore/event-page'
import type { AuditedRow } from '#lib/audit-log/canonical-row'
import { type AuditedHouse, startAuditedHouse } from '#test/support/audited-house'
import { type Anew, makeAnew } from './testing/make-anew.ts'

// What somebody does who can change the database.

let house: AuditedHouse
let admin: AuditedHouse['admin']
let anew: Anew

beforeAll(async () => {
  house = await startAuditedHouse()
  admin = house.admin
  anew = makeAnew(admin)
}, 120_000)
afterAll(() => house?.stop())

const found = (...args: string[]) => house.found('users', ...args)
const changed: AuditedHouse['changed'] = (change, work) => house.changed(change, work)
const chain = (problem: unknown) => ({ row: 'audit_chain', problem })
const checkpoint = (number: number, problem: unknown) => ({ row: `audit_checkpoints number=${number}`, problem })

/** Each of these changes is found by itself. */
const finds = (...cases: [what: string, change: string, expected: object][]) =>
  test.each(cases)('%s', (_, change, expected) =>
    changed(
      () => admin.unsafe(change),
      async () => expect(await found()).toContainEqual(expected),
    ),
  )

/** Puts a checkpoint in the place of one, signed by an unknown key. */
async function forge(number: number, other: Partial<Checkpoint>): Promise<void> {
  const { key, secret } = makeAuditKey()
  const [row] = await admin`select jws from audit_checkpoints where number = ${number}`
  const jws = signCheckpoint({ ...readCheckpoint(row!['jws']).checkpoint, ...other }, key.kid, secret)
  await admin`update audit_checkpoints set jws = ${jws} where number = ${number}`
}

const insert = (position: number, transaction: string, age = '0 s') => `
  insert into events (position, transaction_id, aggregate_type, aggregate_id, sequence, type, payload,
    organization_id, creator, request_id, created_at)
  overriding system value values (${position}, ${transaction}, 'user', 'no-one', 1, 'locked', '{}', 'default', '', '',
    now() - interval '${age}')
`
const inserted = (position: number) => ({
  row: `events position=${position}`,
  problem: 'it was inserted: user no-one, sequence 1',
})

test('an unchanged chain has no finding, by kept checkpoints and by the keys', async () => {
  const ran = await house.roster('verify', '--audit', '--json', '--checkpoints', house.folder, '--keys', house.kept)
  expect(ran).toMatchObject({ status: 0, out: '' })
  expect((await house.roster('verify', '--audit', 'users')).out).toMatch(
    /^users: \d+ events in the chain; signed up to event \d+ at \S+; not signed yet: 0\nNothing differs\.\n$/,
  )
})

describe('an event', () => {
  const events = () => admin<AuditedRow[]>`
    select ${eventColumns(admin)} from events where aggregate_type = 'user' and type = 'email.changed' order by position
  `
  const missing = ({ aggregate_type, aggregate_id, sequence }: AuditedRow) =>
    `${aggregate_type} ${aggregate_id}, sequence ${sequence}`

  test('that was removed, and one that was inserted, are named', async () => {
    const removed = (await events())[6]!
    await changed(
      async () => {
        await admin`delete from events where position = ${removed.position}`
        await admin.unsafe(insert(99_000_000, `'${removed.transaction_id}'`))
      },
      async () => {
        const problem = `it was removed; missing is: ${missing(removed)}`
        const some = await found()
        expect(some).toHaveLength(2)
        expect(some).toContainEqual({ row: `events position=${removed.position}`, problem })
        expect(some).toContainEqual(inserted(99_000_000))
      },
    )
  })

  test('that was altered in any column is named', async () => {
    const changes = {
      aggregate_id: `'other'`,
      organization_id: `'other'`,
      creator: `'other'`,
      request_id: `'other'`,
      cause: `'users-1'`,
      traceparent: `'00-1'`,
      type: `'code.sent'`,
      sequence: `1000`,
      created_at: `'infinity'`,
      payload: `payload || '{"more": 1}'`,
    }
    const some = (await events()).slice(0, Object.keys(changes).length)
    expect(some).toHaveLength(Object.keys(changes).length)
    await changed(
      async () => {
        for (const [index, [column, value]] of Object.entries(changes).entries())
          await admin.unsafe(`update events set ${column} = ${value} where position = ${some[index]!.position}`)
      },
      async () =>
        expect(await found()).toEqual(
          some.map(({ position }) => ({
            row: `events position=${position}`,
            problem: expect.stringMatching(/^it was altered: /),
          })),
        ),
    )
  })

  test('at another place of the order is named', async () => {
    const { position } = (await events()).at(-1)!
    await changed(
      () => admin`update events set transaction_id = '1' where position = ${position}`,
      async () => {
        const problems = (await found()).map(({ row, problem }) => [row, problem.slice(0, 13)])
        const row = `events position=${position}`
        expect(problems).toEqual([
          [row, 'it was insert'],
          [row, 'it was remove'],
        ])
      },
    )
  })

  finds(
    ['before all others is found', insert(9900, `'1'`), inserted(9900)],
    ['between two pages is found', insert(9901, '(select transaction_id from audit_pages where number = 2)'), inserted(9901)], // prettier-ignore
  )
})

describe('a page', () => {
  const three = (problem: string) => ({ row: 'audit_pages number=3', problem })
  finds(
    ['that was removed is named', 'delete from audit_pages where number = 2', three('2 is missing before it')],
    [
      'with other entries is named',
      'update audit_pages set entries = set_byte(entries, 39, 255 - get_byte(entries, 39)) where number = 3',
      three('its entries were altered'),
    ],
    [
      'that names another one before it is named',
      `update audit_pages set header = replace(header, '"previous":"', '"previous":"0') where number = 3`,
      three('it does not name the one before it'),
    ],
    [
      'that was exchanged for another is named',
      'update audit_pages p set header = o.header, entries = o.entries from audit_pages o where p.number = 3 and o.number = 2',
      three('it stands in the place of another one'),
    ],
    [
      'cannot be cut off at the beginning',
      `delete from events where (transaction_id, position) <= (select transaction_id, position from audit_pages where number = 1);
       delete from audit_pages where number = 1; delete from audit_checkpoints where page = 1`,
      { row: 'audit_pages number=2', problem: 'pages of the epoch are missing before it' },
    ],
  )

  test('of another epoch than the chain is named', () =>
    changed(
      () => anew.chain({ headers: { epoch: 2 } }),
      async () =>
        expect(await found()).toContainEqual({ row: 'audit_pages number=1', problem: 'it is of another epoch' }),
    ))
})

describe('a checkpoint', () => {
  test('that is missing is found, and a missing last one by those that were kept', async () => {
    await changed(
      () => admin`delete from audit_checkpoints where number = 2`,
      async () => expect(await found()).toEqual([checkpoint(3, '2 is missing before it')]),
    )
    const [{ last }] = await admin<[{ last: number }]>`select max(number)::int as last from audit_checkpoints`
    await changed(
      () => admin`delete from audit_checkpoints where number = ${last}`,
      async () => {
        expect(await found()).toEqual([])
        const missing = checkpoint(last, 'it is missing, and was kept elsewhere')
        expect(await found('--checkpoints', house.kept)).toEqual([missing])
      },
    )
  })

  finds(
    [
      'with the signature of another one is found',
      `update audit_checkpoints c set jws = regexp_replace(c.jws, '[^.]+$', '') || split_part(o.jws, '.', 3)
       from audit_checkpoints o where c.number = 2 and o.number = 1`,
      checkpoint(2, 'its signature is not that of its key'),
    ],
    ['that is none is found', `update audit_checkpoints set jws = 'x' where number = 2`, checkpoint(2, 'it is no checkpoint')], // prettier-ignore
  )

  test.each<[string, Partial<Checkpoint>, string]>([
    ['a lower epoch', { epoch: 0 }, 'its epoch is lower than that of one before it'],
    ['a lower page', { page: 1 }, 'its page does not come after that of one before it'],
    ['fewer events', { events: 1 }, 'it has no more events than one before it'],
    ['a new epoch without a reason', { epoch: 2 }, 'its epoch has no reason'],
    ['another reason for its epoch', { reason: 'x' }, 'it gives another reason for its epoch'],
  ])('with %s is found', (_, other, problem) =>
    changed(
      () => forge(3, other),
      async () => expect(await found()).toContainEqual(checkpoint(3, problem)),
    ),
  )

  const minute = 60_000
  const toCome = 'its time is to come, or none'
  const before = 'its time is before that of one before it'
  test.each([
    ['in a time to come', 10 * minute, [toCome]],
    ['at a time that is none', undefined, [before, toCome]],
    ['long before the one before it', -60 * minute, [before]],
    ['some seconds ahead', 5000, []],
    ['some seconds too early', -30_000, []],
  ])('%s is found, unless clocks may differ so much', async (_, ahead, problem) => {
    const [last] = await admin`select number::int, jws from audit_checkpoints order by number desc limit 1`
    const from = ahead !== undefined && ahead < 0 ? Date.parse(readCheckpoint(last!['jws']).checkpoint.at) : Date.now()
    const at = ahead === undefined ? 'never' : new Date(from + ahead).toISOString()
    await changed(
      () => forge(last!['number'], { at }),
      async () => {
        const problems = (await found()).map((one) => one.problem)
        expect(problems.filter((one) => one.startsWith('its time'))).toEqual(problem)
      },
    )
  })
})

describe('a chain', () => {
  finds(
    ['that is held is reported', 'select audit_hold()', chain('it is held: stored events are being changed')],
    [
      'whose end is not its last page is found',
      `update audit_chain set transaction_id = '99999999999'`,
      chain('it does not say what the last page says'),
    ],
    [
      'that does not go on is found',
      `update events set created_at = created_at - interval '1 hour'; delete from audit_pages; delete from audit_checkpoints;
       update audit_chain set page = 0, events = 0, hash = '', transaction_id = '0', position = 0`,
      chain('events that are older than five minutes are not in it'),
    ],
    [
      'that stays unsigned is found',
      `delete from audit_checkpoints; update events set created_at = created_at - interval '2 days'`,
      { row: 'audit_checkpoints', problem: 'events of the chain have waited too long for a checkpoint' },
    ],
  )

  test.each([
    ['6 minutes', true],
    ['1 minute', false],
  ])('that somebody stops by an open transaction is found after some minutes, and who does it: %s', async (age, is) => {
    // Of any role, and in any schema.
    const open = await admin.reserve()
    try {
      await open`begin`
      const [row] = await open`select pg_backend_pid() as process, pg_current_xact_id()`
      await changed(
        () => admin.unsafe(insert(9902, 'pg_current_xact_id()', age)),
        async () => {
          const who = new RegExp(`; a transaction is open, of \\S+ in process ${row!['process']}$`)
          expect(await found()).toEqual(is ? [chain(expect.stringMatching(who))] : [])
          const printed = (await house.roster('verify', '--audit', 'users')).out
          expect(printed).toContain('; not signed yet: 1\n')
        },
      )
    } finally {
      await open`rollback`
      open.release()
    }
  })

  test('of a lower epoch than a checkpoint is found', async () => {
    const { key, secret } = makeAuditKey()
    const [last] = await admin`select number::int, jws from audit_checkpoints order by number desc limit 1`
    const later: Checkpoint = { ...readCheckpoint(last!['jws']).checkpoint, epoch: 2, reason: 'sealed' }
    const line = { service: 'users', number: last!['number'], jws: signCheckpoint(later, key.kid, secret) }
    const file = await house.keep('2', { kind: 'key', service: 'users', key }, { kind: 'checkpoint', ...line })
    expect(await found('--checkpoints', file)).toContainEqual(
      chain(`its epoch (1) is lower than that of kept checkpoint number=${line.number} (epoch 2)`),
    )
  })

  test('that started a new epoch after the last kept checkpoint is found', () =>
    changed(
      () => admin`select audit_begin('no reason')`,
      async () =>
        expect(await found('--checkpoints', house.kept)).toContainEqual(
          chain('it started epoch 2, which no kept checkpoint knows'),
        ),
    ))
})

describe('a history that was made anew', () => {
  const alter = (where: string) => admin.unsafe(`update events set creator = 'no-one' where position = ${where}`)

  test('and signed is whole in itself, and contradicts what was kept', () =>
    changed(
      async () => {
        await alter(`(select min(position) from events where type = 'email.changed')`)
        await anew.chain()
        await anew.sign([makeAuditKey()])
      },
      async () => {
        expect(await found()).toEqual([])
        const some = await found('--checkpoints', house.kept)
        expect(some).toContainEqual(checkpoint(1, 'it is not the one that was kept'))
        expect(some).toContainEqual({ row: 'kept checkpoint number=2', problem: expect.stringMatching(/^the events /) })
        const byKey = await found('--keys', house.kept)
        expect(byKey).toContainEqual(checkpoint(1, 'its key is none of the given ones'))
      },
    ))

  test('contradicts a kept checkpoint, which says after which position and up to which one', async () => {
    const signed = await admin<{ number: number; page: number; position: string }[]>`
      select number::int, page::int, position::text from audit_checkpoints order by number
    `
    const [before, after] = [signed[1]!, signed[2]!]
    await changed(
      async () => {
        await alter(after.position)
        await anew.chain({ after: before.page })
      },
      async () => {
        const some = await found('--checkpoints', house.kept)
        expect(some).toContainEqual({
          row: `kept checkpoint number=${after.number}`,
          problem: `the events after position ${before.position} up to ${after.position} are not those that it signed`,
        })
        expect(some.filter(({ row }) => row === `kept checkpoint number=${before.number}`)).toEqual([])
      },
    )
  })

  test('is proven by the first key alone where each key names the next one, and only there', async () => {
    const [one, two] = [makeAuditKey(), makeAuditKey()]
    const file = await house.keep('first-key.jsonl', { kind: 'key', service: 'users', key: one.key })
    const naming = (one: Checkpoint) => (one.number === 1 ? { ...one, nextKey: two.key.kid } : one)
    await changed(
      () => anew.sign([one, two], naming),
      async () => expect(await found('--keys', file)).toEqual([]),
    )
    await changed(
      () => anew.sign([one, two]),
      async () =>
        expect(await found('--keys', file)).toContainEqual(checkpoint(2, 'no checkpoint before it names its key')),
    )
  })
})

test('a service that cannot be read ends with 2, and its sisters are looked at', () =>
  changed(
    () => admin`delete from audit_chain`,
    async () => {
      const ran = await house.roster('verify', '--audit', 'users', 'grants')
      expect(ran).toMatchObject({ status: 2, err: expect.stringContaining('users: the row of audit_chain is missing') })
      expect(ran.out).toMatch(/^grants: \d+ events in the chain/m)
    },
  ))

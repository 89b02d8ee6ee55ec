import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventColumns } from '#lib/eventstore/event-page'
import type { AuditedRow } from '#lib/eventstore/audit/canonical-row'
import { type AuditedHouse, startAuditedHouse } from '#test/support/audited-house'

let house: AuditedHouse
let admin: AuditedHouse['admin']

beforeAll(async () => {
  house = await startAuditedHouse()
  admin = house.admin
}, 120_000)
afterAll(() => house?.stop())

const verify = (...args: string[]) => house.roster('verify', '--audit', '--json', ...args)
const changed: AuditedHouse['changed'] = (change, work) => house.changed(change, work)

async function expectFound(found: { row: unknown; problem: unknown }[], ...args: string[]) {
  const ran = await verify('users', ...args)
  expect(ran.json().map(({ row, problem }) => ({ row, problem }))).toEqual(found)
  expect(ran.status).toBe(1)
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
      await expectFound([missing], '--checkpoints', house.kept)
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

test('an event between two pages is found', async () => {
  const [page] = await admin`select transaction_id::text as transaction from audit_pages where number = 2`
  await changed(
    () => admin`
      insert into events (position, transaction_id, aggregate_type, aggregate_id, sequence, type, payload,
        organization_id, creator, request_id, created_at)
      overriding system value values (99000001, ${page!['transaction']}::xid8, 'user', 'nobody', 1, 'locked', '{}',
        'default', '', '', now())
    `,
    () => expectFound([{ row: 'events position=99000001', problem: 'it was inserted: user nobody, sequence 1' }]),
  )
})

test('a chain that is held is told, and nothing of what it signed before', async () => {
  await changed(
    () => admin`select audit_hold()`,
    () => expectFound([{ row: 'audit_chain', problem: 'it is held: stored events are being changed' }]),
  )
})

test('what differs from no checkpoint is told where everything is restored', async () => {
  const ran = await verify('users', '--checkpoints', house.folder, '--keys', house.kept)
  expect(ran).toMatchObject({ status: 0, out: '' })
})

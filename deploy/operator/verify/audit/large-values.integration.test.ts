import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AuditedHouse, startAuditedHouse } from '#test/support/audited-house'
import { fewerOf } from '#test/support/long'

let house: AuditedHouse

beforeAll(async () => {
  house = await startAuditedHouse()
}, 120_000)
afterAll(() => house?.stop())

const manyKeys = `
  insert into audit_keys (kid, public_key, created_at)
  select 'big-' || n, jsonb_build_object('x', repeat('x', 100000000)), now() from generate_series(1, 8) n
`

test.each(
  fewerOf(2, [
    [
      'a salt',
      `update audit_pages set salt = repeat('x', 540000000) where number = 1`,
      /^users: events position=\d+: it was altered/m,
    ],
    [
      'payloads',
      `update events set payload = jsonb_build_object('x', repeat('x', 100000000)) where position < 6`,
      /^users: events position=3: it was altered/m,
    ],
    ['keys', manyKeys, /^users: audit_keys: a value in it is larger than any of Roster$/m],
    [
      'a checkpoint',
      `update audit_checkpoints set jws = repeat('x', 540000000) where number = 2`,
      /^users: audit_checkpoints number=2: it is no checkpoint$/m,
    ],
    [
      'a header',
      `update audit_pages set header = repeat(' ', 540000000) || header where number = 2`,
      /^users: audit_pages number=2: its header cannot be read$/m,
    ],
    [
      'entries',
      `update audit_pages set entries = decode(repeat('00', 100000000), 'hex') where number = 2`,
      /^users: audit_pages number=2: its entries were altered$/m,
    ],
    [
      'a reason',
      `update audit_chain set reason = repeat('x', 540000000)`,
      /^users: audit_chain: a value in it is larger than any of Roster$/m,
    ],
    [
      'a creator',
      `update events set creator = repeat('x', 540000000) where position = 3`,
      /^users: events position=3: it was altered/m,
    ],
  ]),
)('%s that would fill the memory does not hinder that others are looked at', async (_, change, problem) => {
  await house.changed(
    () => house.admin.unsafe(change),
    async () => {
      const { status, out } = await house.roster('verify', '--audit', 'users', 'grants')
      expect(status).toBe(1)
      expect(out).toMatch(problem)
      expect(out).toMatch(/^grants: \d+ events in the chain/m)
    },
  )
})

test.each(
  fewerOf(2, [
    [
      'aggregates',
      `update aggregates set state = jsonb_build_object('x', repeat('x', 100000000)) where id = (select min(id) from aggregates)`,
    ],
    [
      'events',
      `update events set payload = (select jsonb_build_object('x', jsonb_agg(1e131000)) from generate_series(1, 500)) where position = 3`,
    ],
    ['events', `update events set creator = repeat('x', 540000000) where position = 3`],
  ]),
)(
  'verify without --audit names %s whose values would fill the memory, and looks at the other services',
  async (table, change) => {
    const { admin, changed, roster } = house
    await changed(
      () => admin.unsafe(change),
      async () => {
        await admin`update roster_grants.aggregates set sequence = sequence + 1 where type = 'organization'`
        const { status, out } = await roster('verify', '--without-stream', 'users', 'grants')
        await admin`update roster_grants.aggregates set sequence = sequence - 1 where type = 'organization'`
        expect(status).toBe(1)
        expect(out).toMatch(new RegExp(`^users: ${table}: a value in it is larger than any of Roster$`, 'm'))
        expect(out).toMatch(/^grants: aggregates type="organization" .*: sequence: not what its events say$/m)
      },
    )
  },
)

const large = "(select jsonb_build_object('x', repeat('x', 8000000)) as large offset 0) v"
const someone = '(select id from aggregates order by id desc limit 1)'

test.each(
  fewerOf(2, [
    [
      'events of one object',
      `insert into events (position, transaction_id, aggregate_type, aggregate_id, sequence, type, payload, organization_id,
        creator, request_id, created_at) overriding system value
      select 90000000 + n, '3', type, id, 1000 + n, 'locked', large, '', '', '', now()
      from aggregates, generate_series(1, 24) n, ${large} where id = ${someone}`,
      /^users: aggregates type="[a-z_]+" id=".*": event \d+ is missing$/m,
    ],
    [
      'states',
      `insert into aggregates (type, id, organization_id, sequence, created_at, changed_at, state)
      select 'user', 'nobody-' || n, '', 1, now(), now(), large from generate_series(1, 24) n, ${large}`,
      /^users: aggregates type="user" id="nobody-24": it has no events$/m,
    ],
    [
      'events of many objects',
      `insert into events (position, transaction_id, aggregate_type, aggregate_id, sequence, type, payload, organization_id,
        creator, request_id, created_at) overriding system value
      select 90000000 + n, '3', 'user', 'nobody-' || n, 1, 'locked', large, '', '', '', now()
      from generate_series(1, 24) n, ${large}`,
      /^users: events position=90000024: aggregates has no row for its object/m,
    ],
    [
      'keys of one large state',
      `with one as (
        insert into aggregates (type, id, organization_id, sequence, created_at, changed_at, state)
        select 'user', 'nobody', '', 1, now(), now(), large || '{"userName":"nobody"}' from ${large} returning id
      )
      insert into unique_keys (kind, scope, key, aggregate_id)
      select (select kind from unique_keys where aggregate_id = (select id from aggregates where type = 'user' limit 1) limit 1),
        'many', n, id from one, generate_series(1, 24) n`,
      /^users: unique_keys kind="[a-z_.]+" scope="many" aggregate_id="nobody": its holder has no such key$/m,
    ],
  ]),
)(
  'verify without --audit reads %s that fill the memory only together, and looks at the other services',
  async (_, change, problem) => {
    await house.changed(
      () => house.admin.unsafe(change),
      async () => {
        const ran = await house.rosterWithin(128, 'verify', '--without-stream', 'users', 'grants')
        expect(ran).toMatchObject({ status: 1, out: expect.stringMatching(problem) })
        expect(ran.out).not.toMatch(/^grants/m)
      },
    )
    await house.admin`delete from unique_keys where scope = 'many'`
  },
  120_000,
)

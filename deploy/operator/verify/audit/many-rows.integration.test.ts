import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeAuditKey, readCheckpoint, signCheckpoint } from '#lib/eventstore/audit/checkpoint'
import { type AuditedHouse, startAuditedHouse } from '#test/support/audited-house'

let house: AuditedHouse

beforeAll(async () => {
  house = await startAuditedHouse()
}, 120_000)
afterAll(() => house?.stop())

/** Adds checkpoints that anybody could make, each smaller than the longest. */
async function addMany(reason: number, number: number) {
  const { admin } = house
  const [first] = await admin`select jws from audit_checkpoints where number = 1`
  const { key, secret } = makeAuditKey()
  const { checkpoint } = readCheckpoint(first!['jws'])
  const jws = signCheckpoint({ ...checkpoint, reason: 'x'.repeat(reason) }, key.kid, secret)
  await admin`
    insert into audit_checkpoints (number, jws, epoch, page, transaction_id, position, signed_at, published)
    select 1000000 + n, ${jws}, 1, 1, '1', 1, now(), true from generate_series(1, ${number}) n
  `
}

const megabytes = 200

test.each([
  ['as long as they may be', 4000, 40_000],
  ['longer than any', 40_000, 12_000],
])(
  'any number of checkpoints %s fills no memory, and hinders nobody',
  async (_, reason, number) => {
    const { changed, rosterWithin } = house
    await changed(
      () => addMany(reason, number),
      async () => {
        const { status, out } = await rosterWithin(megabytes, 'verify', '--audit', 'users', 'grants')
        expect(status).toBe(1)
        expect(out).toMatch(/^users: audit_chain: more differs: the look at it ended after 10000 findings$/m)
        expect(out).toMatch(/^grants: \d+ events in the chain/m)
        expect(out).toMatch(/\n10001 rows differ\.\n$/)
        const written = await rosterWithin(megabytes, 'checkpoints')
        expect(written.status).toBe(1)
        expect(written.err).toContain(
          'users: audit_checkpoints: more of them do not fit\nNothing was written of users.\n',
        )
        expect(new Set(written.json().map(({ service }) => service))).toEqual(new Set(['grants']))
      },
    )
  },
  60_000,
)

test('of any number of events that differ, verify without --audit names some, and counts the others', async () => {
  const { admin, changed, rosterWithin } = house
  await changed(
    () => admin`
      insert into events (aggregate_type, aggregate_id, sequence, type, payload, organization_id, creator, request_id, created_at)
      select 'nobody', n, 1, 'locked', '{}', 'default', '', '', now() from generate_series(1, 40000) n
    `,
    async () => {
      const { status, out } = await rosterWithin(megabytes, 'verify', '--without-stream', 'users', 'grants')
      expect(status).toBe(1)
      const lines = out.trimEnd().split('\n')
      expect(lines[0]).toMatch(/^users: events position=\d+: aggregates has no row for its object, nobody 1$/)
      expect(lines.slice(-2)).toEqual(['users: verify: 30000 more differ, and are not shown', '40000 rows differ.'])
      expect(lines).toHaveLength(10_002)
    },
  )
}, 60_000)

// Each follows the one before it, and says what the last true one says of events.
const emptyPages = `
  do $$
  declare c record; h text; head text; nothing text := encode(sha256(''::bytea), 'hex');
  begin
    select * into c from audit_chain;
    h := c.hash;
    for n in c.page + 1 .. c.page + 20000 loop
      head := format('{"entries":"%1$s","epoch":%2$s,"events":%3$s,"first":%4$s,"last":%4$s,"page":%5$s,"previous":"%6$s","service":"users"}',
        nothing, c.epoch, c.events, format('{"position":"%s","transactionId":"%s"}', c.position, c.transaction_id), n, h);
      insert into audit_pages (number, header, salt, entries, transaction_id, position)
      values (n, head, '', '', c.transaction_id, c.position);
      h := encode(sha256(convert_to(head, 'UTF8')), 'hex');
    end loop;
    update audit_chain set page = page + 20000, hash = h;
  end $$
`

test('of any number of pages without events, verify --audit names the first, and looks at the other services', async () => {
  const { admin, changed, roster } = house
  const [{ page }] = await admin<[{ page: number }]>`select page::int from audit_chain`
  await changed(
    () => admin.unsafe(emptyPages),
    async () => {
      const { status, out } = await roster('verify', '--audit', 'users', 'grants')
      expect(status).toBe(1)
      const found = out.split('\n').filter((line) => line.includes('audit_pages'))
      expect(found).toEqual([`users: audit_pages number=${page + 1}: it has no events, so the look at the chain ended here`]) // prettier-ignore
      expect(out).toMatch(/^grants: \d+ events in the chain/m)
    },
  )
})

test('one service that cannot be read does not hinder that the checkpoints of the others are written', async () => {
  const { admin, roster } = house
  await admin`alter table audit_checkpoints rename to hidden`
  try {
    const { status, err, json } = await roster('checkpoints')
    expect(status).toBe(1)
    expect(err).toMatch(/^users: audit_checkpoints: they cannot be read to their end$/m)
    expect(new Set(json().map(({ service }) => service))).toEqual(new Set(['grants']))
  } finally {
    await admin`alter table hidden rename to audit_checkpoints`
  }
})

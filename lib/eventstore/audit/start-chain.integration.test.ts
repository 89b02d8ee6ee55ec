import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { keepRecentEvents, type RecentEvents } from '../../events/recent-events.ts'
import { createLog } from '../../log.ts'
import { connectNats, type Nats } from '../../nats.ts'
import type { Service } from '../../process.ts'
import { counting, insertEvent, type Publishing, readStream, startPublishing } from '#test/support/publishing'
import { add, count, keys, type Replica, silent } from '#test/support/counters'
import type { Sql } from '../database.ts'
import { eventColumns } from '../event-page.ts'
import type { AuditedRow } from './canonical-row.ts'
import { checkpointsAfter, readAuditKeys } from './chain-rows.ts'
import { isSigned, readCheckpoint } from './checkpoint.ts'
import { readEntries, rowHash, rowKey } from './page.ts'
import { startChain } from './start-chain.ts'

let publishing: Publishing
let [a, b]: Replica[] = []
let sql: Sql
let connections: Nats[]
let running: Service[] = []
/** Statements of the chains. */
let asked = 0

beforeAll(async () => {
  publishing = await startPublishing()
  ;[a, b] = publishing.replicas
  sql = publishing.replicas[0].sql
  const { natsUrl } = publishing.servers
  connections = [await connectNats(natsUrl.users, 'users', silent), await connectNats(natsUrl.users, 'users', silent)]
})
afterEach(stop)
afterAll(async () => {
  await Promise.all((connections ?? []).map(({ connection }) => connection.close()))
  await publishing?.stop()
})

function start(replica = 0, recent: RecentEvents | undefined = publishing.recent[replica], checkpointEvery = 0) {
  const options = { service: 'users', nats: connections[replica]!, log: silent, keys, checkpointEvery }
  const counted = counting(publishing.replicas[replica]!.sql, () => asked++)
  const chain = startChain({ ...options, sql: counted, ...(recent && { recent }) })
  running.push(chain)
}

async function stop() {
  await Promise.all(running.map((one) => one.stop()))
  running = []
}

async function state() {
  const [row] = await sql`
    select c.epoch, c.reason, c.events::int, c.page::int, c.hash, (select count(*)::int from events) as stored,
      (select count(*)::int from audit_pages) as pages,
      (select coalesce(sum(octet_length(entries)), 0)::int / 40 from audit_pages) as entries
    from audit_chain c
  `
  return row!
}

async function everythingIsChained() {
  await vi.waitFor(
    async () => {
      const { stored, events, entries } = await state()
      expect({ events, entries }).toEqual({ events: stored, entries: stored })
    },
    { timeout: 20_000 },
  )
}

async function everythingIsSigned() {
  await vi.waitFor(
    async () => {
      const [last] = await checkpointsAfter(sql, 0, 1000).then((rows) => rows.slice(-1))
      expect(last && readCheckpoint(last.jws).checkpoint.hash).toBe((await state())['hash'])
    },
    { timeout: 20_000 },
  )
}

async function untilPublished() {
  await vi.waitFor(
    async () => {
      const [row] = await sql`
        select exists (select from events e, published p where (e.transaction_id, e.position) > (p.transaction_id, p.position)) as waits
      `
      expect(row!['waits']).toBe(false)
    },
    { timeout: 15_000 },
  )
}

async function lastEvent(): Promise<AuditedRow> {
  const [row] = await sql<AuditedRow[]>`select ${eventColumns(sql)} from events order by events.position desc limit 1`
  return row!
}

/** Expects that the chain has the event as it is. */
async function expectChained(row: AuditedRow) {
  const pages = await sql`select salt, entries from audit_pages`
  const page = pages.find(({ entries }) => readEntries(entries).has(row.position))
  expect(readEntries(page!['entries']).get(row.position)).toBe(rowHash(rowKey(page!['salt'], row.position), row))
}

test('what was stored before the chain began is in it, in the order of commits', async () => {
  await a!.store.execute(add('old', 'old'))
  for (let i = 0; i < 20; i++) await a!.store.execute(count('old'))
  start(0, undefined)
  await everythingIsChained()
})

test('two replicas under load make one chain, with and without the events that the tail knows', async () => {
  start(0)
  start(1)
  await Promise.all(Array.from({ length: 20 }, (_, i) => [a!, b!][i % 2]!.store.execute(add(`c${i}`, `c${i}`))))
  for (let round = 0; round < 5; round++) {
    await Promise.all(Array.from({ length: 200 }, (_, i) => [a!, b!][i % 2]!.store.execute(count(`c${i % 20}`))))
    await everythingIsChained()
  }
  const pages = await sql`select number::int, header from audit_pages order by number`
  expect(pages.map(({ number }) => number)).toEqual(pages.map((_, index) => index + 1))
})

test('checkpoints follow each other, are signed, and reach the stream', async () => {
  start()
  await a!.store.execute(count('old'))
  await everythingIsChained()
  await everythingIsSigned()
  const rows = await checkpointsAfter(sql, 0, 1000)
  const known = await readAuditKeys(sql)
  let previous = ''
  for (const [index, { number, jws }] of rows.entries()) {
    const signed = readCheckpoint(jws)
    expect(signed.checkpoint).toMatchObject({ service: 'users', number, previous })
    expect(number).toBe(index + 1)
    expect(isSigned(signed, known)).toBe(true)
    previous = signed.hash
  }
  await vi.waitFor(
    async () => {
      const told = (await readStream(publishing.admin)).filter(({ aggregateType }) => aggregateType === 'audit')
      expect(new Set(told.map(({ id }) => id))).toEqual(new Set(rows.map(({ number }) => `users-checkpoint-${number}`)))
      expect(told[0]).toMatchObject({
        type: 'roster.audit.checkpoint.signed.v1',
        organizationId: 'roster',
        data: { service: 'users', number: rows[0]!.number, jws: rows[0]!.jws },
      })
    },
    { timeout: 20_000 },
  )
})

test('an event that the tail parked is in the chain', async () => {
  await insertEvent(sql, { id: 'parked', type: 'unheard.of' })
  await vi.waitFor(async () => expect((await sql`select from parked_events`).count).toBe(1), { timeout: 15_000 })
  start()
  await everythingIsChained()
})

test('the chain goes on where it stopped, however far the tail is meanwhile', async () => {
  for (let i = 0; i < 30; i++) await b!.store.execute(count('c1'))
  await untilPublished()
  expect((await state())['events']).toBeLessThan((await state())['stored'])
  start(0, undefined)
  await everythingIsChained()
})

test('an event that PostgreSQL does not have any more is not added', async () => {
  const ghost = { ...(await lastEvent()), position: '99000000', transaction_id: '99000000' }
  start(0, { after: () => [ghost], add() {}, clear() {} })
  await a!.store.execute(count('old'))
  await everythingIsChained()
  // Now it takes what it is told.
  await a!.store.execute(count('old'))
  const looked = asked
  await vi.waitFor(() => expect(asked).toBeGreaterThan(looked + 4), { timeout: 20_000 })
  expect((await sql`select from audit_pages where position = 99000000`).count).toBe(0)
  await stop()
  start()
  await everythingIsChained()
  await everythingIsSigned()
})

test.each(['2999-01-01', 'infinity'])('a checkpoint of %s does not end the signing', async (time) => {
  await sql`update audit_checkpoints set signed_at = ${time}::text::timestamptz where number = (select max(number) from audit_checkpoints)`
  start(0, publishing.recent[0], 3_600_000)
  await a!.store.execute(count('old'))
  await everythingIsChained()
  await everythingIsSigned()
})

test('a checkpoint of no time does not hold up those behind it on their way to the stream', async () => {
  const [row] = await sql`
    update audit_checkpoints set published = false, signed_at = 'infinity'
    where number = (select max(number) from audit_checkpoints) returning number::int
  `
  start()
  await a!.store.execute(count('old'))
  await everythingIsChained()
  await everythingIsSigned()
  await vi.waitFor(async () => {
    const told = (await readStream(publishing.admin)).filter(({ aggregateType }) => aggregateType === 'audit')
    expect(told.map(({ sequence }) => sequence)).toContain(row!['number'] + 1)
  }, { timeout: 20_000 })
})

test('a key that has served its time names the next one, and signs no more', async () => {
  const [former] = await sql`update audit_keys set created_at = now() - interval '91 days' returning kid`
  start()
  await a!.store.execute(count('old'))
  await everythingIsChained()
  await everythingIsSigned()
  await a!.store.execute(count('old'))
  await everythingIsChained()
  await everythingIsSigned()
  const [last, next] = (await checkpointsAfter(sql, 0, 1000)).slice(-2).map(({ jws }) => readCheckpoint(jws))
  expect(last!.kid).toBe(former!['kid'])
  expect(last!.checkpoint.nextKey).toBe(next!.kid)
  const left = await sql`select kid from audit_keys where private_key is not null`
  expect(left.map(({ kid }) => kid)).toEqual([next!.kid])
})

test('while it is held, nothing is added; then it begins anew, and the next checkpoint says why', async () => {
  const before = await state()
  start()
  await sql`select audit_hold()`
  await a!.store.execute(count('old'))
  await untilPublished()
  // The tail has told of it as it was before.
  await sql`update events set creator = 'by hand' where position = (select max(position) from events)`
  const looked = asked
  await vi.waitFor(() => expect(asked).toBeGreaterThan(looked + 2), { timeout: 20_000 })
  expect(await state()).toMatchObject({ pages: 0, hash: before['hash'] })
  await sql`select audit_begin('sealed')`
  await everythingIsChained()
  await everythingIsSigned()
  const [last] = (await checkpointsAfter(sql, 0, 1000)).slice(-1).map(({ jws }) => readCheckpoint(jws))
  expect(last!.checkpoint).toMatchObject({ epoch: 2, reason: 'sealed', events: (await state())['stored'] })
  const [first] = await sql`select header from audit_pages order by number limit 1`
  expect(JSON.parse(first!['header'])).toMatchObject({ page: before['page'] + 1, previous: before['hash'], epoch: 2 })
  await expectChained(await lastEvent())
})

test('after it began anew, a replica that had seen the end before takes no event as the tail knew it', async () => {
  const recent = keepRecentEvents()
  start(0, recent)
  await a!.store.execute(count('old'))
  await everythingIsChained()
  const rows = await sql<AuditedRow[]>`select ${eventColumns(sql)} from events order by events.transaction_id, events.position`
  recent.add({ transaction_id: '0', position: '0' }, rows, 1000)
  await sql`select audit_hold()`
  await sql`update events set creator = 'by hand again' where position = (select max(position) from events)`
  await sql`select audit_begin('sealed again')`
  await everythingIsChained()
  await expectChained(await lastEvent())
})

test('a checkpoint that PostgreSQL does not store is told as an error, and the chain goes on', async () => {
  const errors: string[] = []
  const stream = { write: (line: string) => void errors.push((JSON.parse(line) as { msg: string }).msg) }
  await sql.unsafe(`
    create function nothing() returns trigger language plpgsql as $$ begin return null; end $$;
    create trigger quiet before insert on audit_checkpoints for each row execute function nothing();
  `)
  try {
    await a!.store.execute(add('unsigned', 'unsigned'))
    const options = { service: 'users', nats: connections[0]!, keys, checkpointEvery: 0, sql }
    running.push(startChain({ ...options, log: createLog('test', 'error', stream) }))
    await vi.waitFor(() => expect(errors).toContainEqual(expect.stringMatching(/^a checkpoint that was signed is not stored/)), { timeout: 20_000 }) // prettier-ignore
    await everythingIsChained()
  } finally {
    await sql.unsafe('drop trigger quiet on audit_checkpoints; drop function nothing')
  }
  await everythingIsSigned()
})

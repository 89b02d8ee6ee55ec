import { hash } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  type AuditKey,
  type Checkpoint,
  makeAuditKey,
  readCheckpoint,
  signCheckpoint,
} from '#lib/eventstore/audit/checkpoint'
import { type ChainEnd, type ChainPlace, makePage, type PageHeader } from '#lib/eventstore/audit/page'
import { eventColumns } from '#lib/eventstore/event-page'
import type { AuditedRow } from '#lib/eventstore/audit/canonical-row'
import { type AuditedHouse, startAuditedHouse } from '#test/support/audited-house'

// What the owner of the database can do: make pages and checkpoints anew.

let house: AuditedHouse
let admin: AuditedHouse['admin']

beforeAll(async () => {
  house = await startAuditedHouse()
  admin = house.admin
}, 120_000)
afterAll(() => house?.stop())

const found = (...args: string[]) => house.found('users', ...args)
const changed: AuditedHouse['changed'] = (change, work) => house.changed(change, work)
const beginning: ChainPlace = { transactionId: '0', position: '0' }

interface Row extends ChainPlace {
  number: number
}
const pages = () => admin<Row[]>`
  select number::int, transaction_id::text as "transactionId", position::text from audit_pages order by number
`

/**
 * Makes the pages after one of them anew from the events as they are, each with the events that it had. `begin`: what the
 * first one follows. `headers`: what each says besides.
 */
async function chainAnew(begin: Partial<ChainEnd> = {}, headers: Partial<ChainEnd> = {}, kept = 0): Promise<void> {
  const ends = (await pages()).filter(({ number }) => number > kept)
  const [last] = await admin<{ header: string }[]>`select header from audit_pages where number = ${kept}`
  const told = last ? (JSON.parse(last.header) as PageHeader) : { events: 0, last: beginning }
  await admin`delete from audit_pages where number > ${kept}`
  let end: ChainEnd = { epoch: 1, page: kept, events: told.events, hash: last ? hash('sha256', last.header) : '', ...told.last, ...begin } // prettier-ignore
  for (const place of ends) {
    const rows = await admin<AuditedRow[]>`
      select ${eventColumns(admin)} from events
      where (transaction_id, position) > (${end.transactionId}::xid8, ${end.position})
        and (transaction_id, position) <= (${place.transactionId}::xid8, ${place.position})
      order by events.transaction_id, events.position
    `
    const page = makePage('users', { ...end, ...headers }, rows, 'salt')
    const { events, last: at } = page.header
    await admin`
      insert into audit_pages values (${page.header.page}, ${page.headerText}, 'salt', ${page.entries}::bytea,
        ${at.transactionId}::xid8, ${at.position})
    `
    end = { ...end, page: page.header.page, events, hash: page.hash, ...at }
  }
  await admin`
    update audit_chain set epoch = ${end.epoch}, reason = ${end.epoch > 1 ? 'a reason' : ''}, page = ${end.page},
      events = ${end.events}, hash = ${end.hash}
  `
}

interface Signer {
  key: AuditKey
  secret: string
}

/** Signs the checkpoints anew, each with one of the keys, for the pages as they are. */
async function signAnew(keys: Signer[], change: (checkpoint: Checkpoint) => Checkpoint = (same) => same) {
  await admin`delete from audit_keys`
  for (const { key } of keys)
    await admin`insert into audit_keys (kid, public_key) values (${key.kid}, ${admin.json({ ...key })})`
  const rows = await admin<{ number: number; jws: string; header: string }[]>`
    select c.number::int, c.jws, p.header
    from audit_checkpoints c join audit_pages p on p.number = c.page order by c.number
  `
  let previous = ''
  for (const [index, { number, jws, header }] of rows.entries()) {
    const { key, secret } = keys[Math.min(index, keys.length - 1)]!
    const next = change({ ...readCheckpoint(jws).checkpoint, hash: hash('sha256', header), previous })
    const signed = readCheckpoint(signCheckpoint(next, key.kid, secret))
    await admin`update audit_checkpoints set jws = ${signed.jws} where number = ${number}`
    previous = signed.hash
  }
}

const altersFirst = () => admin`
  update events set creator = 'nobody' where position = (select min(position) from events where type = 'email.changed')
`

test('a history that was signed anew is whole in itself, and contradicts what was kept', async () => {
  await changed(
    async () => {
      await altersFirst()
      await chainAnew()
      await signAnew([makeAuditKey()])
    },
    async () => {
      expect(await found()).toEqual([])
      const some = await found('--checkpoints', house.kept)
      expect(some).toContainEqual({ row: 'audit_checkpoints number=1', problem: 'it is not the one that was kept' })
      expect(some).toContainEqual({ row: 'kept checkpoint number=2', problem: expect.stringMatching(/^the events /) })
      const byKey = await found('--keys', house.kept)
      expect(byKey).toContainEqual({ row: 'audit_checkpoints number=1', problem: 'its key is none of the given ones' })
    },
  )
})

test('a kept checkpoint tells after which position and up to which one the events changed', async () => {
  const all = await pages()
  const signed = await admin<{ number: number; page: number }[]>`
    select number::int, page::int from audit_checkpoints order by number
  `
  const [before, after] = [signed[1]!, signed[2]!]
  const endOf = ({ page }: { page: number }) => all.find(({ number }) => number === page)!.position
  await changed(
    async () => {
      await admin`update events set creator = 'nobody' where position = ${endOf(after)}`
      await chainAnew({}, {}, before.page)
    },
    async () => {
      const some = await found('--checkpoints', house.kept)
      expect(some).toContainEqual({
        row: `kept checkpoint number=${after.number}`,
        problem: `the events after position ${endOf(before)} up to ${endOf(after)} are not those that it signed`,
      })
      expect(some.filter(({ row }) => row === `kept checkpoint number=${before.number}`)).toEqual([])
    },
  )
})

test('pages of another epoch than the chain are found', async () => {
  await changed(
    () => chainAnew({}, { epoch: 2 }),
    async () =>
      expect(await found()).toContainEqual({ row: 'audit_pages number=1', problem: 'it is of another epoch' }),
  )
})

test('a new epoch names the last page of the one before it', async () => {
  const [chain] = await admin<[{ page: number; hash: string }]>`select page::int, hash from audit_chain`
  const first = `audit_pages number=${chain.page + 1}`
  const problem = { row: first, problem: 'it does not name the one before it' }
  for (const [previous, expected] of [
    [chain.hash, expect.not.arrayContaining([problem])],
    ['another', expect.arrayContaining([problem])],
  ] as const)
    await changed(
      () => chainAnew({ epoch: 2, page: chain.page, hash: previous }),
      async () => expect(await found()).toEqual(expected),
    )
})

test('a chain that began anew after the last kept checkpoint is found', async () => {
  await changed(
    () => admin`select audit_begin('no reason')`,
    async () =>
      expect(await found('--checkpoints', house.kept)).toContainEqual({
        row: 'audit_chain',
        problem: 'it began anew (epoch 2), and no kept checkpoint knows of that',
      }),
  )
})

test('keys that name each other sign one history, which the first key alone proves', async () => {
  const [one, two] = [makeAuditKey(), makeAuditKey()]
  const naming = (checkpoint: Checkpoint) =>
    checkpoint.number === 1 ? { ...checkpoint, nextKey: two.key.kid } : checkpoint
  const file = await house.keep('first-key.jsonl', { kind: 'key', service: 'users', key: one.key })
  await changed(
    () => signAnew([one, two], naming),
    async () => expect(await found('--keys', file)).toEqual([]),
  )
  await changed(
    () => signAnew([one, two]),
    async () =>
      expect(await found('--keys', file)).toContainEqual({
        row: 'audit_checkpoints number=2',
        problem: 'no checkpoint before it names its key',
      }),
  )
})

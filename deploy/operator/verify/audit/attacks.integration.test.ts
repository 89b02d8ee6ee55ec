import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Checkpoint, makeAuditKey, readCheckpoint, signCheckpoint } from '#lib/eventstore/audit/checkpoint'
import { type AuditedHouse, startAuditedHouse } from '#test/support/audited-house'

let house: AuditedHouse

beforeAll(async () => {
  house = await startAuditedHouse()
}, 120_000)
afterAll(() => house?.stop())

const chain = (problem: unknown) => ({ row: 'audit_chain', problem })

test('what nobody changed has no finding', async () => {
  expect(await house.found('--checkpoints', house.folder)).toEqual([])
})

describe('a lower epoch', () => {
  test('of the chain is found where a checkpoint of a higher one is there', async () => {
    const { admin, changed, found } = house
    const { key, secret } = makeAuditKey()
    const [last] = await admin`select number::int, jws from audit_checkpoints order by number desc limit 1`
    const { checkpoint } = readCheckpoint(last!['jws'])
    const later: Checkpoint = { ...checkpoint, epoch: 2, reason: 'sealed' }
    const file = join(house.folder, '..', `${key.kid}.jsonl`)
    const lines = [
      { kind: 'key', service: 'users', key },
      { kind: 'checkpoint', service: 'users', number: last!['number'], jws: signCheckpoint(later, key.kid, secret) },
    ]
    await writeFile(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
    await changed(
      () => admin`select 1`,
      async () =>
        expect(await found('users', '--checkpoints', file)).toContainEqual(
          chain(`its epoch (1) is lower than that of kept checkpoint number=${last!['number']} (epoch 2)`),
        ),
    )
    await rm(file)
  })

  test('does not switch off the checkpoints that were kept', async () => {
    const { admin, changed, found } = house
    await changed(
      () => admin`update audit_chain set epoch = 2, reason = 'x'`,
      async () => {
        const some = await found('users', '--checkpoints', house.kept)
        expect(some).toContainEqual(
          expect.objectContaining({ problem: 'its epoch is over, but the chain has its page' }),
        )
      },
    )
  })

  test.each<[string, Partial<Checkpoint>, string]>([
    ['a lower epoch', { epoch: 0 }, 'its epoch is lower than that of one before it'],
    ['a lower page', { page: 1 }, 'its page does not come after that of one before it'],
    ['fewer events', { events: 1 }, 'it has no more events than one before it'],
    ['a new epoch without a reason', { epoch: 2 }, 'its epoch has no reason'],
    ['another reason for its epoch', { reason: 'x' }, 'it gives another reason for its epoch'],
  ])('of a checkpoint, or %s, is found', async (_, other, problem) => {
    const { admin, changed, found } = house
    const [row] = await admin`select jws from audit_checkpoints where number = 3`
    const { key, secret } = makeAuditKey()
    const jws = signCheckpoint({ ...readCheckpoint(row!['jws']).checkpoint, ...other }, key.kid, secret)
    await changed(
      () => admin`update audit_checkpoints set jws = ${jws} where number = 3`,
      async () => expect(await found('users')).toContainEqual({ row: 'audit_checkpoints number=3', problem }),
    )
  })
})

describe('the beginning', () => {
  test('cannot be cut off', async () => {
    const { admin, changed, found } = house
    await changed(
      async () => {
        await admin`
          delete from events where (transaction_id, position) <= (
            select transaction_id, position from audit_pages where number = 1
          )
        `
        await admin`delete from audit_pages where number = 1`
        await admin`delete from audit_checkpoints where page = 1`
      },
      async () =>
        expect(await found('users')).toContainEqual({
          row: 'audit_pages number=2',
          problem: 'pages of the epoch are missing before it',
        }),
    )
  })

  test('has no event before it', async () => {
    const { admin, changed, found } = house
    await changed(
      () => admin`
        insert into events (position, transaction_id, aggregate_type, aggregate_id, sequence, type, payload,
          organization_id, creator, request_id, created_at)
        overriding system value values (9900, '1', 'user', 'nobody', 1, 'locked', '{}', 'default', '', '', now())
      `,
      async () => {
        const inserted = { row: 'events position=9900', problem: 'it was inserted: user nobody, sequence 1' }
        expect(await found('users')).toEqual([inserted])
        await admin`delete from audit_pages where number = 1`
        expect(await found('users')).toContainEqual(inserted)
      },
    )
  })
})

describe('what cannot be read is named, and the rest is looked at', () => {
  test.each([
    ['a header', `update audit_pages set header = 'null' where number = 2`, 'its header cannot be read'],
    ['a time', `update events set created_at = 'infinity' where position = 3`, 'it was altered'],
    ['a key', `update audit_keys set public_key = '{}'`, 'its signature is not that of its key'],
    ['a checkpoint', `update audit_checkpoints set jws = 'x' where number = 2`, 'it is no checkpoint'],
  ])('%s', async (_, change, problem) => {
    const { admin, changed, roster } = house
    await changed(
      () => admin.unsafe(change),
      async () => {
        const ran = await roster('verify', '--audit', 'users', 'grants')
        expect(ran.status).toBe(1)
        expect(ran.out).toContain(`: ${problem}`)
        expect(ran.out).toMatch(/^users: \d+ events in the chain/m)
        expect(ran.out).toMatch(/^grants: \d+ events in the chain/m)
      },
    )
  })

  test('a service that cannot be read ends with 2, and its sisters are looked at', async () => {
    const { admin, changed, roster } = house
    await changed(
      () => admin`delete from audit_chain`,
      async () => {
        const ran = await roster('verify', '--audit', 'users', 'grants')
        expect(ran).toMatchObject({
          status: 2,
          err: expect.stringContaining('users: the row of audit_chain is missing'),
        })
        expect(ran.out).toMatch(/^grants: \d+ events in the chain/m)
      },
    )
  })
})

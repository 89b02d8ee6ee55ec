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

describe('a row of a checkpoint that says something else than it signs', () => {
  test.each([
    ['no time', `signed_at = 'infinity'`],
    ['another time', `signed_at = signed_at + interval '1 ms'`],
    ['a page to come', 'page = 9007199254740991'],
    ['another epoch', 'epoch = 2'],
    ['another last event', 'position = position + 1'],
    ['another last transaction', `transaction_id = '1'`],
  ])('is found: %s', async (_, change) => {
    const { admin, changed, found, roster } = house
    await changed(
      () =>
        admin.unsafe(
          `update audit_checkpoints set ${change} where number = (select max(number) from audit_checkpoints)`,
        ),
      async () => {
        const [{ number }] = await admin<[{ number: number }]>`select max(number)::int as number from audit_checkpoints`
        const row = `audit_checkpoints number=${number}`
        expect(await found('users')).toEqual([{ row, problem: 'its row does not say what it signs' }])
        expect((await roster('checkpoints', 'users', '--after', house.kept)).status).toBe(0)
        expect(await roster('status', '--json')).toMatchObject({ out: expect.stringContaining('"chains":{"users":') })
      },
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

describe('what cannot be read hinders nobody', () => {
  const deep = `'${'['.repeat(5000)}${']'.repeat(5000)}'`
  test.each([
    ['a transaction id', `update audit_pages set header = replace(header, '"transactionId":"', '"transactionId":"x') where number = 2`, 'its header cannot be read'], // prettier-ignore
    ['a header', `update audit_pages set header = 'null' where number = 2`, 'its header cannot be read'],
    ['a time', `update events set created_at = 'infinity' where position = 3`, /^it cannot be read, so it was altered/],
    [
      'a deep payload',
      `update events set payload = jsonb_build_object('a', ${deep}::jsonb) where position = 3`,
      /altered/,
    ],
    ['a key', `update audit_keys set public_key = 'null'`, 'its signature is not that of its key'],
    ['a key of another kind', `update audit_keys set public_key = jsonb_set(public_key, '{x}', '7')`, 'its signature is not that of its key'], // prettier-ignore
    ['the chain', 'delete from audit_chain', 'it cannot be read to its end'],
    ['a checkpoint', `update audit_checkpoints set jws = 'x' where number = 2`, 'it is no checkpoint'],
  ])('%s', async (_, change, problem) => {
    const { admin, changed, roster } = house
    await changed(
      () => admin.unsafe(change),
      async () => {
        const ran = await roster('verify', '--audit', 'users', 'grants')
        expect(ran.status).toBe(1)
        expect(ran.out).toMatch(
          typeof problem === 'string' ? `: ${problem}` : new RegExp(problem.source.replace('^', '')),
        )
        expect(ran.out).toMatch(/^grants: \d+ events in the chain/m)
      },
    )
  })

  test.each([
    ['audit_pages', `update audit_pages set number = 9007199254740993 + number`],
    ['audit_checkpoints', `update audit_checkpoints set number = 9007199254740993 + number`],
    ['audit_chain', `update audit_chain set page = 9223372036854775807`],
  ])('numbers that are not exact, in %s', async (row, change) => {
    const { admin, changed, found, roster } = house
    await changed(
      () => admin.unsafe(change),
      async () => {
        expect(await found('users')).toContainEqual({ row, problem: 'a number in it cannot be' })
        if (row === 'audit_checkpoints')
          expect(await roster('checkpoints', 'users')).toMatchObject({ status: 1, out: '' })
      },
    )
  })

  test('an object that says it has a great many events', async () => {
    const { admin, changed, found } = house
    await changed(
      async () => {
        await admin`update aggregates set sequence = 9223372036854775807 where type = 'user'`
        await admin`delete from events where position = 3`
      },
      async () =>
        expect(await found('users')).toContainEqual({
          row: 'events position=3',
          problem: expect.stringMatching(/^it was removed; missing is: /),
        }),
    )
  })
})

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeAuditKey, readCheckpoint, signCheckpoint } from '#lib/eventstore/audit/checkpoint'
import { type AuditedHouse, startAuditedHouse } from '#test/support/audited-house'

let house: AuditedHouse

beforeAll(async () => {
  house = await startAuditedHouse()
}, 120_000)
afterAll(() => house?.stop())

const chain = (problem: unknown) => ({ row: 'audit_chain', problem })

describe('a chain that does not go on', () => {
  const later = `update events set created_at = created_at - interval '1 hour'`
  const unchained = /^events that are older than five minutes are not in it; the first is of [-\d]+ [:\d]+ UTC$/
  test.each([
    ['its place is far ahead', `update audit_chain set transaction_id = '99999999999'`, 'it does not say what the last page says'], // prettier-ignore
    [
      'it has no pages',
      `${later}; delete from audit_pages; delete from audit_checkpoints;
       update audit_chain set page = 0, events = 0, hash = '', transaction_id = '0', position = 0`,
      expect.stringMatching(unchained),
    ],
    [
      'an event is of a transaction to come',
      `insert into events (position, transaction_id, aggregate_type, aggregate_id, sequence, type, payload,
         organization_id, creator, request_id, created_at)
       overriding system value values (9900, '99999999999', 'user', 'nobody', 1, 'locked', '{}', 'default', '', '', now())`,
      expect.stringMatching(unchained),
    ],
    ['it is held', 'update audit_chain set held = true', 'it is held: stored events are being changed'],
  ])('is found: %s', async (_, change, problem) => {
    const { admin, changed, found } = house
    await changed(
      () => admin.unsafe(change),
      async () => expect(await found('users')).toContainEqual(chain(problem)),
    )
  })

  test.each([
    ['is found, and who does it,', '6 minutes', true],
    ['may wait for some time', '1 minute', false],
  ])('because somebody leaves a transaction open %s', async (_, age, isFound) => {
    const { admin, changed, found } = house
    // Of any role, and in any schema.
    const open = await admin.reserve()
    try {
      await open`begin`
      const [{ process }] = await open<[{ process: number }]>`select pg_backend_pid() as process, pg_current_xact_id()`
      await changed(
        () => admin`
          insert into events (transaction_id, aggregate_type, aggregate_id, sequence, type, payload,
            organization_id, creator, request_id, created_at)
          values (pg_current_xact_id(), 'user', 'nobody', 1, 'locked', '{}', 'default', '', '', now() - ${age}::text::interval)
        `,
        async () => {
          const some = await found('users')
          const waits = expect.stringMatching(new RegExp(`UTC; a transaction is open, of \\S+ in process ${process}$`))
          expect(some).toEqual(isFound ? [chain(waits)] : [])
        },
      )
    } finally {
      await open`rollback`
      open.release()
    }
  })
})

test('events that are not signed yet are counted, however young they call themselves', async () => {
  const { admin, changed, roster } = house
  const told = async () => / at \S+; (.*)$/m.exec((await roster('verify', '--audit', 'users')).out)?.[1]
  expect(await told()).toBe('not signed yet: 0')
  await changed(
    () => admin`
      insert into events (aggregate_type, aggregate_id, sequence, type, payload, organization_id, creator, request_id,
        created_at)
      select 'user', 'nobody', number, 'locked', '{}', 'default', '', '', now() from generate_series(1, 3) number
    `,
    async () => expect(await told()).toBe('not signed yet: 3'),
  )
})

describe('a chain that nobody signs any more', () => {
  const later = `update events set created_at = created_at - interval '2 days'`
  const waited = { row: 'audit_checkpoints', problem: 'events of the chain have waited too long for a checkpoint' }

  test('is found where no checkpoint is there', async () => {
    const { admin, changed, found } = house
    await changed(
      () => admin.unsafe(`delete from audit_checkpoints; ${later}`),
      async () => expect(await found('users')).toContainEqual(waited),
    )
  })

  test.each([
    ['is found', 2 * 86_400_000, true],
    ['has some time', 60_000, false],
    ['is found also', -2 * 86_400_000, true],
    ['is found without a date also', undefined, true],
  ])('%s where the last checkpoint is %s ms old', async (_, age, isFound) => {
    const { admin, changed, found } = house
    const [row] = await admin`select jws from audit_checkpoints where number = 1`
    const { key, secret } = makeAuditKey()
    const at = age === undefined ? 'never' : new Date(Date.now() - age).toISOString()
    const jws = signCheckpoint({ ...readCheckpoint(row!['jws']).checkpoint, at }, key.kid, secret)
    await changed(
      async () => {
        await admin.unsafe(`delete from audit_checkpoints where number > 1; ${later}`)
        await admin`update audit_checkpoints set jws = ${jws}, transaction_id = '99999999999'`
      },
      async () => {
        const problems = await found('users')
        if (isFound) expect(problems).toContainEqual(waited)
        else expect(problems).not.toContainEqual(waited)
      },
    )
  })
})

describe('the time of a checkpoint', () => {
  const minute = 60_000
  const toCome = 'its time is to come, or none'
  const before = 'its time is before that of one before it'
  test.each([
    ['in a time to come', 10 * minute, [toCome]],
    ['that is none', undefined, [before, toCome]],
    ['long before that of the one before it', -60 * minute, [before]],
    ['some seconds ahead', 5000, []],
    ['some seconds too early', -30_000, []],
  ])('%s is found, unless clocks may differ so much', async (_, ahead, problem) => {
    const { admin, changed, found } = house
    const [last] = await admin`select number::int, jws from audit_checkpoints order by number desc limit 1`
    const { checkpoint } = readCheckpoint(last!['jws'])
    const from = ahead !== undefined && ahead < 0 ? Date.parse(checkpoint.at) : Date.now()
    const at = ahead === undefined ? 'never' : new Date(from + ahead).toISOString()
    const { key, secret } = makeAuditKey()
    const jws = signCheckpoint({ ...checkpoint, at }, key.kid, secret)
    await changed(
      () => admin`update audit_checkpoints set jws = ${jws} where number = ${last!['number']}`,
      async () => {
        const problems = (await found('users')).map((one) => one.problem)
        expect(problems.filter((one) => one.startsWith('its time'))).toEqual(problem)
      },
    )
  })
})

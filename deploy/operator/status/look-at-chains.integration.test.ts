import type { TransactionSql } from 'postgres'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { startStatusHouse, type StatusHouse } from '#test/support/status-house'
import { unique } from '../../../test/examples/people.ts'

let there: StatusHouse

beforeAll(async () => {
  there = await startStatusHouse()
}, 120_000)
afterAll(() => there?.stop())

describe('the audit chain', () => {
  test('that goes on has nothing to wait for, and its end is signed', async () => {
    await there.act('AddProject', { name: unique('project') })
    await vi.waitFor(
      async () =>
        expect((await there.status()).chains.grants).toEqual({
          epoch: 1,
          held: false,
          waiting: 0,
          seconds: 0,
          unsigned: 0,
          mayWait: expect.any(Number),
        }),
      { timeout: 20_000 },
    )
    expect((await there.roster('status')).out).toMatch(/^grants +0 +0\.0 +1$/m)
  })

  test('that is held is named', async () => {
    await inIdp((sql) => sql`select audit_hold()`)
    expect(await there.roster('status')).toMatchObject({
      status: 1,
      out: expect.stringContaining('! idp: the audit chain is held, because stored events are being changed'),
    })
    await inIdp((sql) => sql`select audit_begin('by hand')`)
    await vi.waitFor(async () => expect((await there.status()).chains.idp).toMatchObject({ epoch: 2, held: false }), { timeout: 20_000 }) // prettier-ignore
    await there.allIsWell()
  })

  test('that cannot go on is named with the age of the first event that waits', async () => {
    await there.whileLocked('roster_grants.audit_pages', async () => {
      await there.storeBefore('10 minutes')
      const { chains, attention } = await there.status()
      expect(chains.grants.waiting).toBeGreaterThan(0)
      expect(chains.grants.unsigned).toBeGreaterThanOrEqual(600)
      expect(attention).toContainEqual(expect.stringMatching(/^grants: an event waits 6\d\d s for the audit chain$/))
    })
    await there.allIsWell()
  })

  test('that nobody signs for longer than the last pauses tell is named, whatever time a checkpoint tells', async () => {
    await vi.waitFor(
      async () => {
        await there.act('AddProject', { name: unique('project') })
        // Of two checkpoints, the only pause would be the one that is altered.
        expect((await there.admin`select from roster_grants.audit_checkpoints`).count).toBeGreaterThan(2)
      },
      { timeout: 20_000 },
    )
    // The oldest event without a checkpoint counts.
    await vi.waitFor(async () => expect((await there.status()).chains.grants.unsigned).toBe(0), { timeout: 20_000 })
    await there.admin`
      update roster_grants.audit_checkpoints set signed_at = '2999-01-01'
      where number = (select max(number) from roster_grants.audit_checkpoints)
    `
    await there.whileLocked('roster_grants.audit_checkpoints', async () => {
      await there.storeBefore('1 hour')
      await vi.waitFor(
        async () => {
          const { chains, attention } = await there.status()
          expect(chains.grants.waiting).toBe(0)
          expect(attention).toContainEqual(expect.stringMatching(/^grants: no checkpoint was signed for 36\d\d s$/))
        },
        { timeout: 20_000 },
      )
    })
    await there.allIsWell()
  })

  const inIdp = (work: (sql: TransactionSql) => PromiseLike<unknown>) =>
    there.admin.begin(async (sql) => {
      await sql`set local search_path to roster_idp`
      await work(sql)
    })
})

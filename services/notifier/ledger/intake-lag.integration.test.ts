import type { TransactionSql } from 'postgres'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { startTestMetrics } from '#test/support/metrics'
import { openHouse, type TestHouse } from '../testing/test-house.ts'

const read = startTestMetrics()
let house: TestHouse

beforeAll(async () => {
  house = await openHouse()
  await house.startUsers()
  await house.startNotifier()
}, 60_000)
afterAll(() => house.stop())

const soon = { timeout: 30_000, interval: 100 }
const lag = async () => (await read('roster.intake.lag'))['users']
const age = async () => (await read('roster.intake.lag.age'))['users']

test('events that the notifier cannot take in show in its lag, while nothing is due to webhooks', async () => {
  await house.addHuman()
  await vi.waitFor(async () => expect([await lag(), await age()]).toEqual([0, 0]), soon)
  await house.ledger.begin(async (transaction: TransactionSql) => {
    await transaction`lock table cursors in share mode`
    await house.addHuman()
    await vi.waitFor(async () => expect(await lag()).toBeGreaterThan(0), soon)
    await vi.waitFor(async () => expect(await age()).toBeGreaterThan(3), soon)
    expect(await read('roster.webhook.due')).toEqual({ '': 0 })
  })
  await vi.waitFor(async () => expect([await lag(), await age()]).toEqual([0, 0]), soon)
}, 90_000)

test('one watch of Redis reports it, however many queues are measured', async () => {
  expect((await read('roster.server.reachable'))['redis']).toBe(1)
  expect(Object.keys(await read('roster.queue.oldest.age')).toSorted()).toEqual(['mails', 'webhooks'])
})

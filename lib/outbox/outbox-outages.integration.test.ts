import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { add, count, outcome, type Replica } from '#test/support/counters'
import { everythingIsPublished, type Publishing, startPublishing } from '#test/support/publishing'

let publishing: Publishing
let [a, b]: Replica[] = []

beforeAll(async () => {
  publishing = await startPublishing()
  ;[a, b] = publishing.replicas
  await Promise.all(Array.from({ length: 20 }, (_, i) => a!.store.execute(add(`c${i}`, `c${i}`))))
})

afterAll(() => publishing?.stop())

const someCounts = (n: number) =>
  Array.from({ length: n }, (_, i) => [a!, b!][i % 2]!.store.execute(count(`c${i % 20}`)))

test('events that were committed while NATS was dead are published once it is back', async () => {
  const before = someCounts(200)
  await publishing.servers.nats!.kill()
  await Promise.all([...before, ...someCounts(200)])
  await publishing.servers.nats!.start()
  await Promise.all(someCounts(100))
  await everythingIsPublished(publishing)
})

test('a cursor that a crash set back costs nothing: the stream drops the events that it already holds', async () => {
  await everythingIsPublished(publishing)
  await a!.sql`update published set transaction_id = '0', position = 0`
  const caughtUp = async () => {
    const [row] = await a!.sql`
      select not exists (select from events where (transaction_id, position) > (select transaction_id, position from published)) as done
    `
    expect(row).toEqual({ done: true })
  }
  await vi.waitFor(caughtUp, { timeout: 10_000 })
  await everythingIsPublished(publishing)
})

test('an outbox without a database continues once it is back, and writes are refused meanwhile', async () => {
  publishing.cable.cut()
  const refused = await outcome(a!.store.execute(count('c1')))
  publishing.cable.mend()
  expect(refused).toBe('STORE_UNAVAILABLE')
  await vi.waitFor(() => b!.store.execute(count('c1')), { timeout: 10_000 })
  await everythingIsPublished(publishing)
})

test('a database that hangs after a page was published is one that each outbox waits for', async () => {
  publishing.afterPublish.run = async () => publishing.cable.stall()
  await a!.store.execute(count('c1'))
  const waiting = (expected: boolean) => () =>
    expect(publishing.waits.map((waits) => waits.has('PostgreSQL'))).toEqual([expected, expected])
  await vi.waitFor(waiting(true), { timeout: 20_000 })
  publishing.afterPublish.run = async () => {}
  publishing.cable.mend()
  await everythingIsPublished(publishing)
  await vi.waitFor(waiting(false), { timeout: 10_000 })
})

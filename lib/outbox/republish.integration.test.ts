import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { streamName } from '../events/stream.ts'
import { ensureStream } from './stream-keeper.ts'
import { add, count, type Replica } from '#test/support/counters'
import {
  everythingIsPublished,
  everythingIsThere,
  type Publishing,
  readStream,
  startPublishing,
} from '#test/support/publishing'
import { copyStream } from '#test/support/set-back'

let publishing: Publishing
let [a, b]: Replica[] = []

beforeAll(async () => {
  publishing = await startPublishing()
  ;[a, b] = publishing.replicas
  await Promise.all(Array.from({ length: 20 }, (_, i) => a!.store.execute(add(`c${i}`, `c${i}`))))
})
afterAll(() => publishing?.stop())
beforeEach(() => everythingIsThere(publishing))

const someCounts = (n: number) =>
  Promise.all(Array.from({ length: n }, (_, i) => [a!, b!][i % 2]!.store.execute(count(`c${i % 20}`))))
const streams = async () => (await publishing.admin.connection.jetstreamManager()).streams
const generation = async () => (await a!.sql<{ generation: number }[]>`select generation from published`)[0]!.generation

describe('the stream holds every event again, once and in order,', () => {
  test('after it was deleted, even if nothing happens any more', async () => {
    await (await streams()).delete(streamName)
    await everythingIsPublished(publishing)
  })

  test('after it was deleted and somebody else created it again', async () => {
    await (await streams()).delete(streamName)
    await ensureStream(await publishing.admin.connection.jetstreamManager())
    await everythingIsPublished(publishing)
  })

  // The second purge comes within the two minutes in which the stream drops repeated messages.
  test.each([1, 2])('after it was purged, even if nothing happens any more (%i)', async () => {
    await (await streams()).purge(streamName)
    await everythingIsPublished(publishing)
  })

  test('after it was purged, with new events behind the old ones', async () => {
    await (await streams()).purge(streamName)
    await someCounts(50)
    await everythingIsPublished(publishing)
  })

  test('after the store of NATS was wiped', async () => {
    await publishing.servers.nats!.kill()
    await rm(join(publishing.servers.home.dir, 'nats/jetstream'), { recursive: true })
    await someCounts(50)
    await publishing.servers.nats!.start()
    await someCounts(50)
    await everythingIsPublished(publishing)
  })

  test('after a cursor from a version that did not track the stream', async () => {
    await a!.sql`update published set stream_created = '', stream_sequence = null`
    await (await streams()).purge(streamName)
    await everythingIsPublished(publishing)
  })
})

test('a stream set back to an older copy gets the missing events again, none too early', async () => {
  const setBack = await copyStream(publishing.servers)
  await someCounts(100)
  await everythingIsThere(publishing)
  await setBack()
  await everythingIsThere(publishing)
  const first = new Map((await readStream(publishing.admin)).toReversed().map((event) => [event.id, event]))
  const sequences = Map.groupBy([...first.values()].toReversed(), ({ aggregateId }) => aggregateId)
  for (const events of sequences.values())
    expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => index + 1))
  await (await streams()).purge(streamName)
})

test.each([1, 30])('no event is missing after the stream was purged between two events of a page (%i)', async (at) => {
  let events = 0
  publishing.beforePublish.run = async () => {
    if (++events === at) await (await streams()).purge(streamName)
  }
  await someCounts(60)
  await vi.waitFor(() => expect(events).toBeGreaterThan(60), { timeout: 10_000 })
  await everythingIsThere(publishing)
})

test('no event is missing after the stream was purged again and again under load', async () => {
  const over = new AbortController()
  const load = (async () => {
    while (!over.signal.aborted) await Promise.all([someCounts(5), sleep(10)])
  })()
  try {
    for (let i = 0; i < 5; i++) {
      const before = await generation()
      await (await streams()).purge(streamName)
      await vi.waitFor(givenEventsIn(before + 1), { timeout: 10_000 })
    }
  } finally {
    over.abort()
    await load
  }
  await everythingIsThere(publishing)
})

function givenEventsIn(generation: number) {
  return async () =>
    expect(await a!.sql`select generation from published where stream_sequence is not null`).toEqual([{ generation }])
}

describe('nothing is published again', () => {
  test('after NATS was killed and came back with all its data', async () => {
    const before = await generation()
    await publishing.servers.nats!.kill()
    await publishing.servers.nats!.start()
    await someCounts(20)
    await everythingIsThere(publishing)
    expect(await generation()).toBe(before)
  })

  test('of events past the maximum age of the stream', async () => {
    await a!.sql`
      update events set created_at = now() - interval '31 days'
      where (transaction_id, position) < (select transaction_id, position from events where aggregate_id = 'c1' order by sequence desc limit 1)
    `
    const young = await a!.sql<{ id: string }[]>`
      select 'users-' || position as id from events where created_at > now() - interval '1 day' order by id
    `
    expect(young.length).toBeGreaterThan(0)
    await (await streams()).purge(streamName)
    const ids = async () => (await readStream(publishing.admin)).map(({ id }) => id).sort()
    await vi.waitFor(async () => expect(await ids()).toEqual(young.map(({ id }) => id).sort()), { timeout: 10_000 })
  })
})

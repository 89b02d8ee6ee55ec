import { nanos, NatsError } from 'nats'
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { streamName } from '../events/stream.ts'
import { add, count, type Replica } from '#test/support/counters'
import {
  everythingIsPublished,
  insertEvent,
  type Publishing,
  readStream,
  startPublishing,
} from '#test/support/publishing'

let publishing: Publishing
let [a, b]: Replica[] = []

// The stream forgets message ids after a moment, otherwise after two minutes. It stores a message that comes again
// later.
beforeAll(async () => {
  publishing = await startPublishing()
  ;[a, b] = publishing.replicas
  await Promise.all(Array.from({ length: 10 }, (_, i) => a!.store.execute(add(`c${i}`, `c${i}`))))
  await everythingIsPublished(publishing)
  const { streams } = await publishing.admin.connection.jetstreamManager()
  await streams.update(streamName, { duplicate_window: nanos(100) })
})

afterAll(() => publishing?.stop())

beforeEach(() => {
  publishing.beforePublish.run = async () => {}
  publishing.afterPublish.run = async () => {}
})

/** Inserts in one transaction, so that the events become one page: several of each aggregate and type. */
async function insertPage(round: string) {
  await a!.sql.begin(async (sql) => {
    for (let sequence = 1; sequence <= 4; sequence++)
      for (let i = 0; i < 10; i++)
        await insertEvent(sql as never, {
          id: `${round}-${i}`,
          sequence,
          ...(sequence === 1 ? {} : { type: 'counted', payload: { by: '' } }),
        })
  })
}

/** Waits until the outboxes have nothing left to publish. Then the stream must hold each event once. */
async function everythingIsThereOnce() {
  const caughtUp = async () => {
    const [row] = await a!.sql`
      select not exists (select from events where (transaction_id, position) > (select transaction_id, position from published)) as done
    `
    expect(row).toEqual({ done: true })
  }
  await vi.waitFor(caughtUp, { timeout: 20_000, interval: 50 })
  const rows = await a!.sql<{ id: string }[]>`select 'users-' || position as id from events order by position`
  const ids = (await readStream(publishing.admin)).map(({ id }) => id)
  expect(ids.toSorted()).toEqual(rows.map(({ id }) => id).toSorted())
  await everythingIsPublished(publishing)
}

const timeout = () => Promise.reject(NatsError.errorForCode('TIMEOUT'))

// A page has three acknowledgements, since an event waits for the one before it of its subject.
test.each([0, 1, 2])(
  'a page is not stored again after only %i of its chains were acknowledged, though more were stored',
  async (acknowledged) => {
    let [sent, stored] = [0, 0]
    publishing.beforePublish.run = async () => void sent++
    publishing.afterPublish.run = () => (++stored > acknowledged ? timeout() : Promise.resolve())
    await insertPage(`acknowledged-${acknowledged}`)
    await vi.waitFor(() => expect(stored).toBeGreaterThan(acknowledged), { timeout: 10_000 })
    // Wait for one more try in which everything is lost again.
    const before = sent
    await vi.waitFor(() => expect(sent).toBeGreaterThan(before), { timeout: 10_000 })
    publishing.afterPublish.run = async () => {}
    await everythingIsThereOnce()
  },
)

test.each([3, 17])('a page is not stored again after NATS was killed at event %i and came back later', async (at) => {
  let sent = 0
  let killed: Promise<void> | undefined
  publishing.beforePublish.run = async () => {
    if (++sent >= at) await (killed ??= publishing.servers.nats!.kill())
  }
  await insertPage(`killed-${at}`)
  await vi.waitFor(() => expect(killed).toBeDefined(), { timeout: 10_000 })
  await killed
  publishing.beforePublish.run = async () => {}
  await publishing.servers.nats!.start()
  await everythingIsThereOnce()
})

test('a page is not stored again after an outbox stored it long ago and was killed before it stored so', async () => {
  await everythingIsThereOnce()
  const [row] = await a!.sql`select *, transaction_id::text from published`
  await Promise.all(Array.from({ length: 10 }, (_, i) => b!.store.execute(count(`c${i}`))))
  await everythingIsThereOnce()
  const [was] = await a!.sql`select position from events order by position desc limit 1`
  await vi.waitFor(async () => expect(await a!.sql`select position from published`).toEqual([was]))
  const tries = publishing.asked[0] + publishing.asked[1]
  await a!.sql.begin(async (sql) => {
    await sql`update events set created_at = created_at - interval '10 minutes'`
    await sql`
      update published set transaction_id = ${row!['transaction_id']}::xid8, position = ${row!['position']},
        stream_sequence = ${row!['stream_sequence']}
    `
  })
  await vi.waitFor(async () => expect(await a!.sql`select position from published`).toEqual([was]), { timeout: 10_000 })
  expect(publishing.asked[0] + publishing.asked[1]).toBeGreaterThan(tries)
  await everythingIsThereOnce()
})

test('old events that the stream lacks are published, even behind other events of their subject', async () => {
  await insertPage('late')
  await a!.sql`update events set created_at = now() - interval '10 minutes' where aggregate_id like 'late%'`
  await everythingIsThereOnce()
  await a!.sql.begin(async (sql) => {
    for (let i = 0; i < 10; i++)
      await insertEvent(sql as never, {
        id: `late-${i}`,
        sequence: 5,
        type: 'counted',
        payload: { by: '' },
        created_at: new Date(Date.now() - 600_000),
      })
  })
  await everythingIsThereOnce()
  expect(await readStream(publishing.admin)).not.toHaveLength(0)
})

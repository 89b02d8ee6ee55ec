import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { EventPosition } from '#gen/roster/feed/v1/feed'
import { backUp, restoreIntoYounger, startElsewhere } from '#test/support/another-life'
import { add, count, silent } from '#test/support/counters'
import { shiftClock } from '#test/support/shift-clock'
import { testMessages } from '#test/support/event-messages'
import {
  everythingIsPublished,
  everythingIsThere,
  type Publishing,
  readStream,
  startPublishing,
} from '#test/support/publishing'
import type { Sql } from '../database/database.ts'
import { createFeed } from '../subscriptions/feed.ts'
import { compareStream } from './compare-stream.ts'
import type { Published } from './outbox-rows.ts'

const messages = testMessages({ CounterAdded: ['name'], CounterCounted: ['by'] })
let publishing: Publishing
let sql: Sql
let number = 0

beforeAll(async () => {
  publishing = await startPublishing()
  sql = publishing.replicas[0].sql
})
beforeEach(async () => {
  await shiftClock(sql, '0')
  await publishing.replicas[0].store.execute(add(`h${++number}`, `name-${number}`))
  await everythingIsThere(publishing)
  // A page under way would write its place over what the test makes of it.
  await expect
    .poll(async () => (await sql`select from events where position > (select position from published)`).count)
    .toBe(0)
})
afterAll(() => publishing?.stop())

async function write(): Promise<number> {
  await publishing.replicas[0].store.execute(count(`h${number}`))
  const [row] = await sql<{ position: string }[]>`
    select position from events where aggregate_id = ${`h${number}`} order by sequence desc limit 1
  `
  return Number(row!.position)
}

function page(after?: EventPosition) {
  const feed = createFeed({ service: 'users', sql, log: silent, messages })
  return feed({}, { after, fromEnd: false, filter: undefined, limit: 1000 })
}

test('a dump that was restored into a younger cluster loses no event of the stream, and of no follower', async () => {
  await restoreIntoYounger(sql)
  const { events: before, next } = await page()
  expect(before).toHaveLength(number)
  const position = await write()
  await everythingIsPublished(publishing)
  const { events } = await page(next)
  expect(events.map(({ event }) => event!.id)).toEqual([`users-${position}`])
})

test('what a restored dump has not published comes before anything is written', async () => {
  await sql`update published set stream_created = ''`
  await restoreIntoYounger(sql)
  await everythingIsThere(publishing)
})

test('each life of a database gives positions of its own, also where clocks are behind', async () => {
  const given: number[] = []
  for (let life = 0; life < 3; life++) {
    await startElsewhere(sql)
    await shiftClock(sql, `${-life} hours`)
    given.push(await write())
  }
  expect(given).toEqual(given.toSorted((one, other) => one - other))
  await everythingIsThere(publishing)
})

test('a stream that was made anew since the backup is compared from its beginning', async () => {
  await sql
    .begin(async (transaction) => {
      const [published] = await transaction<[Published]>`
        update published set stream_created = 'former', stream_sequence = 1000000 returning *
      `
      const stream = { created: 'new', last: 7, own: { sequence: 5, id: 'users-99999999999' } }
      await compareStream(transaction, silent, { service: 'users', published, ...stream })
      const [found] = await transaction`select ahead from published`
      expect(found!['ahead']).toMatchObject({ from: 0, to: 7 })
      throw new Error('undone')
    })
    .catch(({ message }: Error) => expect(message).toBe('undone'))
})

test('a database that is older than the stream is noticed, and no new event is mistaken for one that was lost', async () => {
  const restore = await backUp(sql)
  const lost = await write()
  await everythingIsThere(publishing)
  await restore()
  await expect.poll(() => publishing.outboxes.some((outbox) => outbox.streamIsAhead())).toBe(true)
  // Of the same subject as what was lost, and so old that the stream may know it no more.
  await shiftClock(sql, '-10 minutes')
  const position = await write()
  expect(position).toBeGreaterThan(lost)
  await expect
    .poll(async () => (await readStream(publishing.admin)).slice(-2).map(({ id }) => id))
    .toEqual([`users-${lost}`, `users-${position}`])
})

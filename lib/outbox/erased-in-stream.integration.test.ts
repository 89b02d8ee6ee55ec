import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { add, count } from '#test/support/counters'
import { insertEvent, type Publishing, readStream, startPublishing } from '#test/support/publishing'
import { silent } from '#test/support/rpc'
import { eraseInStream } from './erase-in-stream.ts'
import { streamName, streamState } from '../events/stream.ts'
import { connectNats, type Nats } from '../nats/connect-nats.ts'

let publishing: Publishing
let users: Nats

beforeAll(async () => {
  publishing = await startPublishing()
  users = await connectNats(publishing.servers.natsUrl.users, 'users', silent)
})
afterAll(async () => {
  await users?.connection.close()
  await publishing?.stop()
})

const sql = () => publishing.replicas[0].sql
const execute = (...args: Parameters<Publishing['replicas'][0]['store']['execute']>) =>
  publishing.replicas[0].store.execute(...args)
const generation = async () => (await sql()<{ generation: number }[]>`select generation from published`)[0]!.generation
const allIsPublished = () =>
  vi.waitFor(
    async () => {
      const [row] = await sql()`select exists (select from events where position > (select position from published))`
      expect(row).toEqual({ exists: false })
    },
    { timeout: 20_000 },
  )
const idsOf = async (aggregate: string) =>
  (await readStream(publishing.admin)).filter(({ aggregateId }) => aggregateId === aggregate).map(({ type }) => type)

async function addAndRemove(id: string) {
  await execute(add(id, id))
  await execute(count(id))
  await insertEvent(sql(), { id, sequence: 3, type: 'removed', payload: {} })
  await allIsPublished()
}

const forget = async (id: string) =>
  (await eraseInStream(users, 'users', { organizationId: 'house', type: 'counter', id })).removed

test('the outbox does not take the removal of the first messages, nor of all but the last, for a loss', async () => {
  await addAndRemove('first')
  const { first: before } = await streamState(users)
  expect(await forget('first')).toBe(2)
  const { first, last } = await streamState(users)
  expect([first - before, last]).toEqual([2, first])
  await execute(add('next', 'next'))
  await allIsPublished()
  await addAndRemove('amid')
  await execute(count('next'))
  await allIsPublished()
  expect(await forget('amid')).toBe(2)
  await execute(count('next'))
  await allIsPublished()
  expect(await generation()).toBe(0)
  expect(await idsOf('first')).toHaveLength(1)
  expect(await idsOf('amid')).toHaveLength(1)
})

test('a stream that was lost gets all events again, and they can be removed again', async () => {
  await addAndRemove('again')
  await forget('again')
  const { streams } = await publishing.admin.connection.jetstreamManager()
  const before = await generation()
  await streams.delete(streamName)
  await vi.waitFor(async () => expect(await generation()).toBe(before + 1), { timeout: 20_000 })
  await allIsPublished()
  expect(await idsOf('again')).toHaveLength(3)
  expect(await forget('again')).toBe(2)
  await execute(count('next'))
  await allIsPublished()
  expect(await idsOf('again')).toHaveLength(1)
  expect(await generation()).toBe(before + 1)
})

test('a removal while much is published makes the outbox publish nothing again', async () => {
  const before = await generation()
  const ids = Array.from({ length: 20 }, (_, index) => `busy${index}`)
  const over = new AbortController()
  const load = (async () => {
    for (let n = 0; !over.signal.aborted; n++) await execute(add(`other${n}`, `other${n}`))
  })()
  onTestFinished(() => over.abort())
  for (const id of ids) {
    await execute(add(id, id))
    const position = await insertRemoved(id)
    // Positions alone do not show it: the load may have a higher one in an earlier transaction.
    const published = () => sql()`
      select from published p, events e
      where e.position = ${position} and (p.transaction_id, p.position) >= (e.transaction_id, e.position)
    `
    await vi.waitFor(async () => expect((await published()).count).toBe(1), { timeout: 20_000, interval: 5 })
    expect(await forget(id)).toBe(1)
  }
  over.abort()
  await load
  await allIsPublished()
  expect(await generation()).toBe(before)
})

async function insertRemoved(id: string): Promise<string> {
  await insertEvent(sql(), { id, sequence: 2, type: 'removed', payload: {} })
  const [row] = await sql()<
    { position: string }[]
  >`select max(position) as position from events where aggregate_id = ${id}`
  return row!.position
}

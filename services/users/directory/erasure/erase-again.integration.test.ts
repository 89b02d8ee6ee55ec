import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { stateSubject, streamName } from '#lib/events/stream'
import type { Nats } from '#lib/nats/connect-nats'
import { removedUntil } from '../states/removed-user.ts'
import { callIn } from '../../testing/test-users.ts'
import { startErasureAgain } from './erase-again.ts'
import { onlyTheEnd, openRemovals, type Removals, soon } from './testing/removals.ts'

let removals: Removals

beforeAll(async () => {
  removals = await openRemovals()
})
beforeEach(() => removals.begin())
afterAll(() => removals?.stop())

const again = (through: Nats = removals.nats) =>
  removals.run(startErasureAgain({ sql: removals.users.sql, log: removals.users.log, nats: through, every: 100 }))
const generation = async () => {
  const [row] = await removals.users.sql<[{ generation: number }]>`select generation from published`
  return row.generation
}
const allPublished = () =>
  vi.waitFor(async () => {
    const [row] = await removals.users
      .sql`select exists (select from events where position > (select position from published))`
    expect(row).toEqual({ exists: false })
  }, soon)
async function removedOne() {
  removals.start()
  const userId = await removals.addHuman()
  await removals.remove(userId)
  await removals.done(userId)
  return userId
}
async function textsOf(userId: string) {
  const { streams } = await removals.admin.connection.jetstreamManager()
  const { state } = await streams.info(streamName)
  const texts: string[] = []
  for (let seq = state.first_seq; seq <= state.last_seq; seq++) {
    const message = await streams.getMessage(streamName, { seq }).catch(() => undefined)
    if (message?.subject.includes(`.${userId}.`)) texts.push(message.string())
  }
  return texts
}
const onlyTheEndOf = (userId: string) =>
  vi.waitFor(async () => expect(await removals.held(userId)).toEqual(onlyTheEnd(userId)), soon)
const subjectOf = (userId: string) => `roster.events.users.acme.user.${userId}.human.added`

test('a stream that was lost gets nothing personal of a removed user again, and soon nothing but the removal', async () => {
  const userId = await removedOne()
  const before = await generation()
  const { streams } = await removals.admin.connection.jetstreamManager()
  await streams.delete(streamName)
  await vi.waitFor(async () => expect(await generation()).toBe(before + 1), soon)
  await allPublished()
  expect(await removals.held(userId)).toContain(subjectOf(userId))
  expect((await textsOf(userId)).join()).not.toMatch(/@example|firstName|userName/)
  again()
  await onlyTheEndOf(userId)
})

test('a stream that was set back loses what the copy has of a removed user', async () => {
  const userId = await removedOne()
  await removals.admin.connection.jetstream().publish(subjectOf(userId), `{"email":"${userId}@example.com"}`)
  await removals.users.sql`update published set stream_created = ''`
  again()
  await onlyTheEndOf(userId)
  expect((await textsOf(userId)).join()).not.toContain('@example')
})

test('a stream that was set back keeps what it has of a user who waits to be erased', async () => {
  // The walk comes to this one first.
  const waiting = await removals.addHuman('again')
  const forgetAt = new Date(Date.now() + 86_400_000)
  await removals.users.store.execute({
    aggregate: { type: 'user', id: waiting },
    call: callIn('acme'),
    decide: () => removedUntil(forgetAt),
  })
  const userId = await removedOne()
  const before = await removals.held(waiting)
  expect(before).toContain(subjectOf(waiting))
  await removals.admin.connection.jetstream().publish(subjectOf(userId), '{}')
  await removals.users.sql`update published set stream_created = ''`
  again()
  await onlyTheEndOf(userId)
  expect(await removals.held(waiting)).toEqual(before)
})

test('a stream that is lost while it is cleaned counts as one to be cleaned again', async () => {
  const { sql } = removals.users
  const ask: Nats['ask'] = (subject, ...rest) => {
    if (!subject.startsWith('roster.stream.forget.')) return removals.nats.ask(subject, ...rest)
    const lost = sql`update published set generation = generation + 1`
    return { answer: lost.then(() => removals.nats.ask(subject, ...rest).answer), fail: () => {} }
  }
  removals.start({ ...removals.nats, ask })
  const userId = await removals.addHuman()
  await removals.remove(userId)
  await removals.done(userId)
  const [row] = await sql`
    select stream_generation < generation as again from forgettings, published where user_id = ${userId}
  `
  expect(row).toEqual({ again: true })
})

test('a stream that was lost is cleaned once the removal is published again, by another replica where one was lost', async () => {
  const { sql } = removals.users
  let [asked, looks, isLost] = [0, 0, false]
  const lost = Promise.withResolvers<void>()
  const ask: Nats['ask'] = (subject, ...rest) => {
    if (subject === stateSubject) looks++
    if (isLost && subject.startsWith('roster.stream.forget.') && subject.endsWith(`.${userId}`)) {
      asked++
      lost.resolve()
      return { answer: new Promise(() => {}), fail: () => {} }
    }
    return removals.nats.ask(subject, ...rest)
  }
  const nats = { ...removals.nats, ask }
  again(nats)
  removals.start(nats)
  const userId = await removals.addHuman()
  await removals.remove(userId)
  await removals.done(userId)
  await removals.stopOutbox()
  isLost = true
  await sql`update published set generation = generation + 1, transaction_id = '0', position = 0`
  const looked = looks
  await vi.waitFor(() => expect(looks).toBeGreaterThan(looked + 2), soon)
  expect({ asked, row: await removals.rowOf(userId) }).toMatchObject({ asked: 0, row: { done: true } })
  removals.startOutbox()
  await lost.promise
  removals.abandon()
  await allPublished()
  removals.start()
  await onlyTheEndOf(userId)
})

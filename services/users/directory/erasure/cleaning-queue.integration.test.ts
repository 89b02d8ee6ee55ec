import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import type { Nats } from '#lib/nats/connect-nats'
import { startErasureAgain } from './erase-again.ts'
import { openRemovals, type Removals, soon } from './testing/removals.ts'

let removals: Removals

beforeAll(async () => {
  removals = await openRemovals()
})
beforeEach(() => removals.begin())
afterAll(() => removals?.stop())

/**
 * Begins to clean. `hold` is waited for before each question to the keeper. Returns the users in the order of these.
 */
function start(hold: (userId: string) => Promise<unknown>) {
  const { nats } = removals
  const asked: string[] = []
  const ask: Nats['ask'] = (subject, ...rest) => {
    if (!subject.startsWith('roster.stream.forget.')) return nats.ask(subject, ...rest)
    const userId = subject.split('.').at(-1)!
    asked.push(userId)
    return { answer: hold(userId).then(() => nats.ask(subject, ...rest).answer), fail: () => {} }
  }
  removals.start({ ...nats, ask })
  return asked
}

const published = (userId: string) =>
  vi.waitFor(async () => {
    const { count } = await removals.users.sql`
      select from events e, published p
      where aggregate_id = ${userId} and type = 'removed' and (e.transaction_id, e.position) <= (p.transaction_id, p.position)
    `
    expect(count).toBe(1)
  }, soon)
const cleaned = (...ids: string[]) =>
  vi.waitFor(async () => {
    const { count } = await removals.users.sql`
      select from forgettings where user_id = any(${ids}) and stream_at is not null
    `
    expect(count).toBe(ids.length)
  }, soon)

/** Adds users of an organization and removes them, all before any is cleaned. */
async function removeSome(organization: string, number: number): Promise<string[]> {
  const ids: string[] = []
  while (ids.length < number) ids.push(await removals.addHuman('queued', organization))
  for (const id of ids) await removals.remove(id, organization)
  await published(ids.at(-1)!)
  return ids
}

test('a user is not kept waiting by the many whom another organization removed before', async () => {
  const many = await removeSome('large', 60)
  const single = await removals.addHuman('queued', 'small')
  const gate = Promise.withResolvers<void>()
  const asked = start(() => gate.promise)
  await vi.waitFor(() => expect(asked.length).toBeGreaterThan(0), soon)
  await removals.remove(single, 'small')
  await published(single)
  gate.resolve()
  await cleaned(single)
  expect(asked.indexOf(single)).toBeLessThan(20)
  await cleaned(...many)
  // One question for each user.
  expect(asked.toSorted()).toEqual([...many, single].toSorted())
})

test('a user is not kept waiting by the many who are cleaned again, because the stream was lost', async () => {
  const { sql, log } = removals.users
  const many = await removeSome('lost', 60)
  const single = await removals.addHuman('queued', 'single')
  const gate = Promise.withResolvers<void>()
  let isLost = false
  const asked = start(async () => (isLost ? gate.promise : undefined))
  await cleaned(...many)
  isLost = true
  const before = asked.length
  await sql`update published set generation = generation + 1`
  removals.run(startErasureAgain({ sql, log, nats: removals.nats, every: 100 }))
  await vi.waitFor(() => expect(asked.length).toBeGreaterThan(before), soon)
  await removals.remove(single, 'single')
  await published(single)
  gate.resolve()
  await cleaned(single)
  expect(asked.indexOf(single) - before).toBeLessThan(30)
  await cleaned(...many)
  await vi.waitFor(async () => {
    const left = await sql`
      select from forgettings, published where user_id = any(${many}) and stream_generation is distinct from generation
    `
    expect(left).toHaveLength(0)
  }, soon)
})

test('of more organizations than are served at once, each comes before any is done', async () => {
  const organizations = Array.from({ length: 20 }, (_, index) => `organization-${index}`)
  const users: string[][] = []
  for (const name of organizations) users.push(await removeSome(name, 6))
  const asked = start(async () => {})
  await cleaned(...users.flat())
  const firsts = users.map((of) => asked.findIndex((id) => of.includes(id)))
  expect(Math.max(...firsts)).toBeLessThan(80)
})

test('a user whom the keeper refuses holds up no other, and is tried again', async () => {
  const users = await removeSome('strange', 6)
  const others = users.slice(0, 5)
  const [last] = users.slice(5) as [string]
  let isRefused = true
  start(async (userId) => {
    if (isRefused && userId !== last) throw new Error('refused')
  })
  await cleaned(last)
  const deadLetters = () => removals.users.sql`select from parked_for_followers where follower = 'forgetting'`
  expect(await deadLetters()).toHaveLength(5)
  isRefused = false
  await cleaned(...others)
  await vi.waitFor(async () => expect(await deadLetters()).toHaveLength(0), soon)
})

import { afterAll, beforeAll, expect, test } from 'vitest'
import { messageOf } from '../events/messages.ts'
import { RosterError } from '../errors.ts'
import type { Decision } from './command.ts'
import { createStore, type Store } from './store.ts'
import { call, openReplicas, silent } from '#test/support/counters'

// The event types of users. The state keeps every text, so that it grows.
const vocabulary = {
  evolve: {
    user: (notes: string[] = [], { payload }: { payload: { failure: string } }) => [...notes, payload.failure],
  },
}
const most = 20_000
let store: Store
let replicas: Awaited<ReturnType<typeof openReplicas>>

beforeAll(async () => {
  expect(messageOf('user', 'email.code.failed')).toBeDefined()
  replicas = await openReplicas()
  store = createStore(replicas.replicas[0]!.sql, vocabulary, silent, () => {}, undefined, { mostEventBytes: most })
})

afterAll(() => replicas?.stop())

/** Stores an event with this text. Returns the sequence, or the limit that refused it. */
async function note(id: string, failure: string, otherStore = store, cause?: string): Promise<unknown> {
  const command = {
    aggregate: { type: 'user', id },
    call: { ...call(), ...(cause && { cause }) },
    decide: (): Decision => ({
      organizationId: 'house',
      events: [{ type: 'email.code.failed', payload: { codeId: 'c', failure } }],
      answer: undefined,
    }),
  }
  return otherStore.execute(command).then(
    ({ after }) => after.sequence,
    (error: RosterError) => [error.code, error.reason, error.metadata],
  )
}

const eventLimit = [8, 'LIMIT_REACHED', { limit: 'event.bytes', most: String(most) }]
const stateLimit = [8, 'LIMIT_REACHED', { limit: 'aggregate.characters', most: '1048576' }]

test('an event is measured as it is published: in bytes, with its headers, in JSON', async () => {
  // The headers and the rest of the data take some 600 bytes.
  expect(await note('letters', 'x'.repeat(19_000))).toBe(1)
  expect(await note('letters', 'x'.repeat(most))).toEqual(eventLimit)
  expect(await note('wide', '漢'.repeat(6_300))).toBe(1)
  expect(await note('wide', '漢'.repeat(6_700))).toEqual(eventLimit)
  expect(await note('control', '\u0001'.repeat(3_100))).toBe(1)
  expect(await note('control', '\u0001'.repeat(3_400))).toEqual(eventLimit)
  expect(await note('i'.repeat(18_900), 'x')).toBe(1)
  expect(await note('i'.repeat(20_000), 'x')).toEqual(eventLimit)
})

test('a refused command changes nothing, and the rest of its batch is stored', async () => {
  const answers = await Promise.all([note('batch', 'a'), note('batch', 'x'.repeat(most)), note('batch', 'b')])
  expect(answers).toEqual([1, eventLimit, 2])
  expect((await store.load('user', 'batch'))!.state).toEqual(['a', 'b'])
})

test('an object may grow up to the limit, in one batch and in many', async () => {
  const answers: unknown[] = []
  for (let round = 0; round < 3; round++)
    answers.push(...(await Promise.all(Array.from({ length: 25 }, () => note('grown', 'x'.repeat(18_000))))))
  const stored = answers.filter((answer) => typeof answer === 'number')
  expect(stored).toEqual(Array.from({ length: 58 }, (_, i) => i + 1))
  for (const answer of answers.slice(stored.length)) expect(answer).toEqual(stateLimit)
  expect(JSON.stringify((await store.load('user', 'grown'))!.state).length).toBeLessThanOrEqual(1_048_576)
})

test('an old object beyond the limit may change but not grow, except by a service’s own reaction', async () => {
  const { sql } = replicas.replicas[0]!
  await note('larger', 'x')
  await sql`update aggregates set state = ${sql.json(['x'.repeat(1_200_000)])} where id = 'larger'`
  expect(await note('larger', 'x')).toEqual(stateLimit)
  expect(await note('larger', 'x', store, 'users-1')).toBe(2)
  const shrinking = createStore(sql, { evolve: { user: () => ['x'.repeat(1_100_000)] } }, silent, () => {})
  expect(await note('larger', 'x', shrinking)).toBe(3)
})

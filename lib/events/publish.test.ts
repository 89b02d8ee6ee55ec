import type { Msg } from 'nats'
import { expect, test } from 'vitest'
import type { Ask } from '../requests.ts'
import { type Outcome, publish, subjectOf } from './publish.ts'
import type { StoredEvent } from './stored-event.ts'
import { streamName } from './stream.ts'
import { testMessages } from '#test/support/event-messages'

const options = { service: 'users', key: 'of users', messages: testMessages({ UserAdded: [] }) }

const event = (aggregate: string, position: number): StoredEvent => ({
  position: String(position),
  transaction_id: '1',
  aggregate_type: 'user',
  aggregate_id: aggregate,
  sequence: String(position),
  type: 'added',
  payload: {},
  organization_id: 'house',
  creator: '',
  request_id: '',
  created_at: new Date(0),
})

/** A stream that loses the named events and stores the rest, each a turn later. */
function losing(...lost: string[]) {
  const sent: string[] = []
  const ids: string[] = []
  const answer = async (id: string) => {
    await new Promise((resolve) => setImmediate(resolve))
    if (lost.includes(id)) throw new Error('timeout')
    return { json: () => ({ stream: streamName, seq: sent.length }) } as Msg
  }
  const ask: Ask = (_subject, _data, { headers }) => {
    const id = headers!.get('ce-id')
    sent.push(id)
    ids.push(headers!.get('Nats-Msg-Id'))
    return { answer: answer(id), fail: () => {} }
  }
  return { sent, ids, stream: { ask } }
}

const events = [event('a', 1), event('b', 2), event('a', 3), event('a', 4), event('b', 5)]
const kinds = (outcomes: Outcome[]) => outcomes.map((outcome) => Object.keys(outcome)[0])

test('events of one aggregate are sent in order, while those of others go on', async () => {
  const { sent, stream } = losing()
  await publish(stream, events, options)
  expect(sent.filter((id) => ['users-1', 'users-3', 'users-4'].includes(id))).toEqual(['users-1', 'users-3', 'users-4'])
  expect(sent.slice(0, 2)).toEqual(['users-1', 'users-2'])
  expect(sent).toHaveLength(5)
})

test('a lost event is not overtaken by the next of its aggregate, and does not hold up others', async () => {
  const { sent, stream } = losing('users-3')
  expect(kinds(await publish(stream, events, options))).toEqual(['ack', 'ack', 'failed', 'failed', 'ack'])
  expect(sent).not.toContain('users-4')
})

test('an event published anew keeps its id, and the stream does not drop it as a repetition', async () => {
  const { sent, ids, stream } = losing()
  for (const generation of [0, 0, 2]) await publish(stream, events.slice(0, 1), { ...options, generation })
  expect(sent).toEqual(['users-1', 'users-1', 'users-1'])
  expect(ids[1]).toBe(ids[0])
  expect(ids[2]).not.toBe(ids[0])
})

test('without the key, nobody can predict the id under which the stream will take an event', async () => {
  const { ids, stream } = losing()
  for (const key of ['of users', 'of idp']) await publish(stream, events.slice(0, 1), { ...options, key })
  expect(new Set(ids).size).toBe(2)
  expect(ids.join()).not.toContain('users-1')
})

test('an event that does not match proto/ is refused, and the events behind it are published', async () => {
  const { sent, stream } = losing()
  const unknown = { ...event('a', 6), type: 'unheard.of' }
  const other = { ...event('b', 7), payload: { surprise: true } }
  const outcomes = await publish(stream, [unknown, other, event('a', 8), event('b', 9)], options)
  expect(kinds(outcomes)).toEqual(['refused', 'refused', 'ack', 'ack'])
  expect(outcomes).toMatchObject([
    { refused: { message: expect.stringContaining('roster.events.v1.UserUnheardOf is missing') } },
    { refused: { message: expect.stringContaining('surprise') } },
    {},
    {},
  ])
  expect(sent).toEqual(['users-8', 'users-9'])
})

test('an event has one subject with a fixed number of tokens, whatever its ids are', () => {
  const hostile = { ...event('a\r\nPUB x 0\r\n', 1), organization_id: '' }
  expect(subjectOf('users', hostile)).toBe('roster.events.users.%.user.a%0D%0APUB%20x%200%0D%0A.added')
  expect(subjectOf('users', event('0-9_Az', 1))).toBe('roster.events.users.house.user.0-9_Az.added')
})

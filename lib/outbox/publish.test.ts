import { type Msg, type MsgHdrs, MsgHdrsImpl } from 'nats'
import { expect, test } from 'vitest'
import type { Ask } from '../nats/nats-requests.ts'
import type { Publisher } from './into-stream.ts'
import { type Outcome, publish, subjectOf } from './publish.ts'
import type { StoredEvent } from '../events/stored-event.ts'
import { streamName } from '../events/stream.ts'
import { testMessages } from '#test/support/event-messages'

const options = {
  service: 'users',
  key: 'of users',
  messages: testMessages({ UserAdded: [], UserChanged: [], UserRemoved: [] }),
}

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

/**
 * A stream that loses the named events on the way. It drops what it has, and takes a message behind another one only
 * if that one is the last.
 */
function losing(...lost: string[]) {
  const sent: string[] = []
  const ids: string[] = []
  const stored: string[] = []
  const places = new Map<string, number>()
  let acknowledged = 0
  let last = ''

  function arrive(headers: MsgHdrsImpl): { seq: number; duplicate?: boolean } | { error: object } {
    const all = MsgHdrsImpl.decode(headers.encode())
    const [id, own, before] = [all.get('ce-id'), all.get('Nats-Msg-Id'), all.get('Nats-Expected-Last-Msg-Id')]
    sent.push(id)
    ids.push(own)
    if (lost.includes(id)) throw new Error('timeout')
    if (places.has(own)) return { seq: places.get(own)!, duplicate: true }
    if (before && before !== last) return { error: { err_code: 10070, description: 'wrong last msg ID' } }
    last = own
    places.set(own, stored.push(id))
    return { seq: stored.length }
  }

  const ask: Ask = (_subject, _data, { headers }) => {
    const answer = (async () => {
      await new Promise((resolve) => setImmediate(resolve))
      const answer = { stream: streamName, ...arrive(headers as MsgHdrsImpl) }
      acknowledged++
      return { json: () => answer } as Msg
    })()
    return { answer, fail: () => {} }
  }
  const publish = (_subject: string, _data: unknown, options: { headers?: MsgHdrs }) => {
    setImmediate(() => {
      try {
        arrive(options.headers as MsgHdrsImpl)
      } catch {}
    })
  }
  const stream = { ask, connection: { publish } } as unknown as Publisher
  return { sent, ids, stored, acknowledged: () => acknowledged, stream }
}

const events = [event('a', 1), event('b', 2), event('a', 3), event('a', 4), event('b', 5)]
const kinds = (outcomes: Outcome[]) => outcomes.map((outcome) => Object.keys(outcome)[0])

const seqs = (outcomes: Outcome[]) => outcomes.map((outcome) => ('ack' in outcome ? outcome.ack.seq : undefined))
const ofTypes = (types: string[]) => types.map((type, index) => ({ ...event('a', index + 1), type }))

test('events of different subjects share an acknowledgement, and each outcome has its place', async () => {
  const { stored, acknowledged, stream } = losing()
  expect(seqs(await publish(stream, ofTypes(['added', 'changed', 'removed']), options))).toEqual([1, 2, 3])
  expect(stored).toEqual(['users-1', 'users-2', 'users-3'])
  expect(acknowledged()).toBe(1)
})

test('an event waits until the stream has acknowledged the one before it of the same subject', async () => {
  const { stored, acknowledged, stream } = losing()
  expect(seqs(await publish(stream, events, options))).toEqual([1, 2, 3, 4, 5])
  expect(stored).toEqual(['users-1', 'users-2', 'users-3', 'users-4', 'users-5'])
  expect(acknowledged()).toBe(3)
})

test('an event that is lost on the way is overtaken by none', async () => {
  const { stored, stream } = losing('users-2')
  const outcomes = await publish(stream, ofTypes(['added', 'changed', 'removed']), options)
  expect(kinds(outcomes)).toEqual(['ack', 'failed', 'failed'])
  expect(stored).toEqual(['users-1'])
})

test('a lost acknowledgement leaves the outcome open, and nothing is sent behind it', async () => {
  const { sent, stream } = losing('users-3')
  expect(kinds(await publish(stream, events, options))).toEqual(['ack', 'ack', 'failed', 'failed', 'failed'])
  expect(sent).not.toContain('users-4')
})

test('messages of others between those of a chain do no harm: each event is stored once, in order', async () => {
  const { stored, stream } = losing()
  const types = ofTypes(['added', 'changed', 'removed'])
  await publish(stream, types.slice(1, 2), options)
  expect(seqs(await publish(stream, types, options))).toEqual([2, 1, 3])
  expect(stored).toEqual(['users-2', 'users-1', 'users-3'])
})

test('an event published anew keeps its id, and the stream does not drop it as a repetition', async () => {
  const { sent, ids, stream } = losing()
  for (const generation of [0, 0, 2]) await publish(stream, events.slice(0, 1), { ...options, generation })
  expect(sent).toEqual(['users-1', 'users-1', 'users-1'])
  expect(ids[1]).toBe(ids[0])
  expect(ids[2]).not.toBe(ids[0])
})

test('without the key, no one can predict the id under which the stream will take an event', async () => {
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

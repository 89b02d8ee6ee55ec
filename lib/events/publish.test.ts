import type { JetStreamClient } from 'nats'
import { expect, test } from 'vitest'
import { publish, type StoredEvent } from './publish.ts'
import { testMessages } from './test-messages.ts'

const options = { service: 'users', messages: testMessages({ UserAdded: [] }) }

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

/** A stream that loses what it is told to lose and stores the rest, each a turn later. */
function losing(...lost: string[]) {
  const sent: string[] = []
  const publish = async (_subject: string, _data: string, { msgID }: { msgID: string }) => {
    sent.push(msgID)
    await new Promise((resolve) => setImmediate(resolve))
    if (lost.includes(msgID)) throw new Error('timeout')
  }
  return { sent, stream: { publish } as unknown as JetStreamClient }
}

const events = [event('a', 1), event('b', 2), event('a', 3), event('a', 4), event('b', 5)]

test('the events of an aggregate are sent in their order, those of others meanwhile', async () => {
  const { sent, stream } = losing()
  await publish(stream, events, options)
  expect(sent.filter((id) => ['users-1', 'users-3', 'users-4'].includes(id))).toEqual(['users-1', 'users-3', 'users-4'])
  expect(sent.slice(0, 2)).toEqual(['users-1', 'users-2'])
  expect(sent).toHaveLength(5)
})

test('an event that was lost is not overtaken by the next of its aggregate', async () => {
  const { sent, stream } = losing('users-3')
  await expect(publish(stream, events, options)).rejects.toThrow('timeout')
  await new Promise((resolve) => setImmediate(resolve))
  expect(sent).not.toContain('users-4')
})

test('what is published anew is not dropped for what the stream was given before, and keeps its id', async () => {
  const { sent, stream } = losing()
  await publish(stream, events.slice(0, 1), { ...options, generation: 2 })
  expect(sent).toEqual(['users-1.2'])
})

test('an event that proto/ does not know, or knows otherwise, is published by nobody, nor is what comes with it', async () => {
  const { sent, stream } = losing()
  const unknown = { ...event('a', 6), type: 'unheard.of' }
  await expect(publish(stream, [...events, unknown], options)).rejects.toThrow(
    'roster.events.v1.UserUnheardOf is missing',
  )
  const other = { ...event('a', 6), payload: { surprise: true } }
  await expect(publish(stream, [...events, other], options)).rejects.toThrow('surprise')
  expect(sent).toEqual([])
})

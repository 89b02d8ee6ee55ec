import type { PubAck } from 'nats'
import { describe, expect, test } from 'vitest'
import { isIntact, type Mark, type StreamState } from './stream.ts'

const day = 24 * 60 * 60 * 1000
const daysAgo = (days: number) => new Date(Date.now() - days * day)
const stream = (changes: Partial<StreamState> = {}): StreamState => ({
  created: 'then',
  first: 1,
  last: 100,
  maxAge: 30 * day,
  bounded: false,
  ...changes,
})
const mark = (changes: Partial<Mark> = {}): Mark => ({ created: 'then', sequence: 50, at: daysAgo(1), ...changes })
const ack = (seq: number, duplicate = false) => ({ seq, duplicate }) as PubAck

describe('a stream has lost events', () => {
  test.each<[string, StreamState, Mark, PubAck[]?]>([
    ['that was made anew', stream({ created: 'now' }), mark()],
    ['that was never looked at before', stream(), mark({ created: '', sequence: undefined })],
    ['that was purged', stream({ first: 101 }), mark()],
    ['that was purged and given events since', stream({ first: 60 }), mark(), [ack(99), ack(100)]],
    ['that was purged while it got events', stream({ first: 100 }), mark({ sequence: undefined }), [ack(99), ack(100)]], // prettier-ignore
    ['that was set back to an older copy', stream({ last: 49 }), mark()],
    ['that was set back and given events since', stream(), mark(), [ack(50), ack(51)]],
    ['that calls lost events duplicates', stream({ first: 60 }), mark({ sequence: undefined }), [ack(55, true)]], // prettier-ignore
    ['that has another message at the place of the mark', stream(), mark({ found: 49 })],
    ['that has no room for more, and another message there', stream({ bounded: true }), mark({ found: 0 })],
    ['that has no room for more, and was set back', stream({ bounded: true, last: 49 }), mark()],
  ])('%s', (_, state, mark, added) => {
    expect(isIntact(state, mark, added)).toBe(false)
  })
})

describe('a stream has lost nothing', () => {
  test.each<[string, StreamState, Mark, PubAck[]?]>([
    ['that holds all', stream(), mark()],
    ['that grew', stream(), mark(), [ack(99), ack(100)]],
    ['that dropped repeated events', stream(), mark(), [ack(49, true), ack(50, true), ack(100)]],
    ['whose events are past their maximum age', stream({ first: 101 }), mark({ at: daysAgo(31) })],
    ['whose older events are past their maximum age', stream({ first: 50 }), mark()],
    ['that was given nothing yet', stream({ first: 101 }), mark({ sequence: undefined })],
    ['whose mark is the last message of its subject', stream(), mark({ found: 50 })],
    ['that has a later message of the same subject', stream(), mark({ found: 60 })],
    ['whose mark just came of age', stream({ first: 51 }), mark({ at: daysAgo(31), found: 0 })],
    ['that just dropped the mark for lack of room', stream({ first: 51, bounded: true }), mark({ found: 0 })],
    ['that drops events for lack of room', stream({ first: 101, bounded: true }), mark()],
  ])('%s', (_, state, mark, added) => {
    expect(isIntact(state, mark, added)).toBe(true)
  })
})

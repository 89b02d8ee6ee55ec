import { fromJson, toJson } from '@bufbuild/protobuf'
import { expect, test } from 'vitest'
import { testDocument } from '#test/support/event-payloads'
import { messageOf } from '../events/messages.ts'
import { truncatedType } from './history.ts'

const event = messageOf('history', 'truncated')

testDocument('history', [event])

test('the event has the type that docs/events.md names, and what `announce_truncation` writes', () => {
  expect(truncatedType).toBe('roster.history.truncated.v1')
  const written = { service: 'users', lastPosition: '17', noticedAt: '2026-01-01T12:00:00.123Z' }
  expect(toJson(event.desc, fromJson(event.desc, written))).toEqual(written)
})

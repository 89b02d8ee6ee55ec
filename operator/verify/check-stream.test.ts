import { create, type DescMessage, type JsonObject, toJson } from '@bufbuild/protobuf'
import { expect, test } from 'vitest'
import { describeEvent } from '#lib/events/cloud-event'
import { unpublishedFields } from '#lib/events/marked-fields'
import type { StoredEvent } from '#lib/events/stored-event'
import { subjectOf } from '#lib/outbox/publish'
import { registry } from '#lib/registry'
import { eventProblem } from './check-stream.ts'

const messages = [...registry.files]
  .filter(({ name }) => name.startsWith('roster/events/v1/'))
  .flatMap((file) => file.messages.map((message) => [message.name, message] as const))

// `UserEmailChanged` is the event `email.changed` of a `user`.
function storedOf(desc: DescMessage): StoredEvent {
  const [aggregate, ...type] = desc.name
    .replaceAll(/(?<!^)(?=[A-Z])/g, '.')
    .toLowerCase()
    .split('.')
  return {
    position: '17',
    transaction_id: '1000',
    aggregate_type: aggregate!,
    aggregate_id: 'an-id',
    sequence: '1',
    type: type.join('.'),
    payload: toJson(desc, create(desc)),
    organization_id: 'acme',
    creator: '',
    request_id: '',
    cause: null,
    traceparent: null,
    created_at: new Date(0),
  } as StoredEvent
}

function problemOf(stored: StoredEvent, more: JsonObject = {}) {
  const { dataSchema: _, ...published } = describeEvent('users', stored)
  const event = { ...published, data: { ...published.data, ...more } }
  return eventProblem('users', { subject: subjectOf('users', stored) }, event, stored)
}

test.each(messages)('a published %s is what the database says', (_, desc) => {
  expect(problemOf(storedOf(desc))).toBeUndefined()
})

const secret = messages.filter(([, desc]) => {
  const { aggregate_type, type } = storedOf(desc)
  return unpublishedFields(aggregate_type, type).length > 0
})

test.each(secret)('an unpublished field in the stream is a difference: %s', (_, desc) => {
  expect(problemOf(storedOf(desc), { admittedBy: ['grants-17'] })).toContain('data.admittedBy: not what event users-17')
})

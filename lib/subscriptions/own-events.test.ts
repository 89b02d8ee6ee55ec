import { expect, test } from 'vitest'
import type { Event, ListEventsResponse } from '#gen/roster/feed/v1/feed'
import { createLog } from '../log.ts'
import { ownEvents } from './own-events.ts'

const base = {
  organizationId: 'acme',
  aggregateId: 'x',
  sequence: 1,
  actor: '',
  requestId: '',
  causationId: '',
  cause: '',
  time: new Date(0),
  data: undefined,
  dataOmitted: '',
}
const ofIdp = {
  ...base,
  id: 'idp-7',
  source: '/roster/idp',
  type: 'roster.idp.oidc.added.v1',
  aggregateType: 'idp',
} as unknown as Event
const position = { transactionId: 1, position: 1 }
const request = { after: undefined, fromEnd: false, filter: undefined, limit: 10 }

async function taken(event: Event | undefined, more: Partial<ListEventsResponse> = {}) {
  const answer = { events: [{ position, event }], next: position, endReached: true, ...more }
  const feed = ownEvents('idp', async () => answer, createLog('test', 'silent'))
  return (await feed(request, { requestId: '', deadline: 0 })).events
}

test('events of the service itself pass', async () => {
  expect(await taken(ofIdp)).toHaveLength(1)
  // This version does not know this kind of event yet.
  expect(await taken({ ...ofIdp, type: 'roster.idp.later.v1' })).toHaveLength(1)
})

test.each<[string, Partial<Event>]>([
  ['the id of a sister', { id: 'users-7' }],
  ['the source of a sister', { source: '/roster/users' }],
  ['the kind of a sister', { aggregateType: 'user', type: 'roster.user.removed.v1' }],
  ['no time', { time: undefined }],
])('what has %s is left out', async (_, foreign) => {
  expect(await taken({ ...ofIdp, ...foreign })).toEqual([])
})

test('an entry without an event or a place is left out, and an answer without a next place is refused', async () => {
  expect(await taken(undefined)).toEqual([])
  expect(await taken(ofIdp, { events: [{ position: undefined, event: ofIdp }] })).toEqual([])
  await expect(taken(ofIdp, { next: undefined })).rejects.toMatchObject({ reason: 'SERVICE_UNAVAILABLE' })
})

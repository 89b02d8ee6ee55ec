import { v7 as uuid } from 'uuid'
import { truncatedType } from '#lib/eventstore/history'
import type { Event } from '#gen/roster/feed/v1/feed'
import { passes } from '../webhooks/event-types.ts'
import { payloadOf } from '../webhooks/payload.ts'

/** The part of a webhook that decides which events it gets. */
export interface Receiver {
  webhook_id: string
  organization_id: string
  all_organizations: boolean
  event_types: string[]
  created_at: Date
}

// An event bears the time of its decision, by a clock that may be behind this one; its commit may have come much later.
const clockDifference = 60_000

/**
 * Returns a row for each delivery that the events ask for, in the order of the events. They were added after
 * `addedAfter`, whatever time they bear.
 */
export function webhookRows(events: Event[], receivers: Receiver[], addedAfter: Date) {
  return events.flatMap((event) => {
    const wanted = receivers.filter((receiver) => isFor(receiver, event, addedAfter))
    if (wanted.length === 0) return []
    const payload = payloadOf(event)
    return wanted.map(({ webhook_id, organization_id }) => ({
      id: uuid(),
      webhook_id,
      organization_id,
      event_id: event.id,
      event_type: event.type,
      user_id: userOf(event),
      aggregate: `${event.aggregateType}/${event.aggregateId}`,
      payload,
    }))
  })
}

/** Whether a webhook wants an event. */
export function isFor(
  { all_organizations, organization_id, event_types, created_at }: Receiver,
  event: Event,
  addedAfter: Date,
): boolean {
  if (!all_organizations && organization_id !== event.organizationId) return false
  return (
    Math.max(event.time!.getTime(), addedAfter.getTime()) >= created_at.getTime() - clockDifference &&
    (passes(event_types, event.type) || event.type === truncatedType)
  )
}

function userOf({ aggregateType, aggregateId, data }: Event): string {
  if (aggregateType === 'user') return aggregateId
  const userId: unknown = data?.['userId']
  return typeof userId === 'string' ? userId : ''
}

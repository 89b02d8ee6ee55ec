import type { Event } from '#gen/roster/feed/v1/feed'

/** The body that is sent for an event: what Standard Webhooks wants, with the facts of the event beside it. */
export function payloadOf(event: Event): string {
  const {
    id,
    type,
    time,
    organizationId,
    aggregateType,
    aggregateId,
    sequence,
    actor,
    requestId,
    causationId,
    data,
    dataOmitted,
  } = event
  return JSON.stringify({
    type,
    timestamp: time!.toISOString(),
    id,
    organization: organizationId,
    subject: `${aggregateType}/${aggregateId}`,
    sequence,
    // A fact may be missing, but not be empty.
    ...(actor && { actor }),
    ...(requestId && { requestId }),
    ...(causationId && { causationId }),
    ...(dataOmitted && { dataOmitted }),
    data,
  })
}

import type { Event } from '#gen/roster/feed/v1/feed'

/** Returns the body for an event: the fields of Standard Webhooks, and beside them the facts of the event. */
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
    traceparent,
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
    // Leave out empty facts.
    ...(actor && { actor }),
    ...(requestId && { requestId }),
    ...(causationId && { causationId }),
    ...(traceparent && { traceparent }),
    ...(dataOmitted && { dataOmitted }),
    data,
  })
}

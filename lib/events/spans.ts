import type { NewSpan } from '../telemetry/tracing.ts'

const nats = { 'messaging.system.name': 'nats', 'messaging.destination.name': 'roster.events' }

/**
 * The span of an event that is published. Many are published together. Each traced one has a span of its own, in its own
 * trace.
 */
export const publishing: NewSpan = {
  name: 'publish roster.events',
  kind: 'producer',
  attributes: { ...nats, 'messaging.operation.name': 'publish', 'messaging.operation.type': 'send' },
}

/** The span of a consumer's work on an event. */
export function processing(durable: string): NewSpan {
  const operation = { 'messaging.operation.name': 'process', 'messaging.operation.type': 'process' }
  return {
    name: 'process roster.events',
    kind: 'consumer',
    attributes: { ...nats, ...operation, 'messaging.consumer.group.name': durable },
  }
}

import type { Aggregate } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import type { Application, ApplicationEvent } from '../vocabulary/application.ts'

/** Removes an application for good, if it is still there. */
export function removedApplication({ state }: Aggregate<Application>): Decision<ApplicationEvent> {
  const events: ApplicationEvent[] = !state || state.removed ? [] : [{ type: 'removed', payload: {} }]
  return { events, answer: undefined }
}

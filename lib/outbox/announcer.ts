import type { Log } from '../log.ts'
import type { Nats } from '../nats/connect-nats.ts'
import { callersChanged, hintSubject, writeHints } from '../events/hints.ts'
import type { EventRow } from '../events/stored-event.ts'

/** The part of an event that names the aggregate it is about. */
export type Happened = Pick<EventRow, 'aggregate_type' | 'aggregate_id' | 'type' | 'payload'>

export interface AnnouncerOptions {
  service: string
  nats: Nats
  log: Log
  /** The user whose tokens or roles an event changes, if it changes any, or `everybodyOf` an organization. */
  callerChangedBy?: (event: Happened) => string | undefined
}

/** Announces events over core NATS. A listener that misses the message looks later by itself. */
export function createAnnouncer({ service, nats, log, callerChangedBy }: AnnouncerOptions) {
  // A failure here must not hold up events.
  function publish(subject: string, text: string) {
    try {
      nats.connection.publish(subject, text)
    } catch (error) {
      log.warn({ err: error, subject }, 'an event could not be announced')
    }
  }

  return {
    /** Announces to the gateways whose tokens or roles changed. */
    callers(events: Happened[]) {
      for (const event of events) {
        const changed = callerChangedBy?.(event)
        if (changed !== undefined) publish(callersChanged, changed)
      }
    },
    /** Announces to followers that there are new events. */
    hint: (events: EventKind[]) => publish(hintSubject(service), writeHints(events)),
  }
}

type EventKind = Pick<EventRow, 'organization_id' | 'aggregate_type' | 'type'>

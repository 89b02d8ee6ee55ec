import type { Log } from '../log.ts'
import type { Nats } from '../nats.ts'
import { callersChanged, hintSubject, writeHints } from './hints.ts'
import type { EventRow } from './stored-event.ts'

/** The part of an event that names the aggregate it is about. */
export type Happened = Pick<EventRow, 'aggregate_type' | 'aggregate_id' | 'type' | 'payload'>

export interface AnnouncerOptions {
  service: string
  nats: Nats
  log: Log
  /** The user whose tokens or roles an event changes, if it changes any, or `everybodyOf` an organization. */
  callerChangedBy?: (event: Happened) => string | undefined
}

/** Tells over core NATS of events. A listener that misses the message looks later by itself. */
export function createAnnouncer({ service, nats, log, callerChangedBy }: AnnouncerOptions) {
  // A failure here must not hold up events.
  function tell(subject: string, text: string) {
    try {
      nats.connection.publish(subject, text)
    } catch (error) {
      log.warn({ err: error, subject }, 'what happened could not be told')
    }
  }

  return {
    /** Tells the gateways whose tokens or roles changed. */
    callers(events: Happened[]) {
      for (const event of events) {
        const changed = callerChangedBy?.(event)
        if (changed !== undefined) tell(callersChanged, changed)
      }
    },
    /** Tells followers that there are new events. */
    hint: (events: EventKind[]) => tell(hintSubject(service), writeHints(events)),
  }
}

type EventKind = Pick<EventRow, 'organization_id' | 'aggregate_type' | 'type'>

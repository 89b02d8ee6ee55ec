/** An event as it is stored. */
export interface EventRow {
  aggregate_type: string
  aggregate_id: string
  sequence: number
  type: string
  payload: object
  organization_id: string
  creator: string
  request_id: string
  /** The id of the event that made a service act by itself. */
  cause?: string | null | undefined
  /** W3C trace context of the span that made it, where that was recorded. */
  traceparent?: string | null | undefined
  created_at: Date
}

/** An event with its place in the order of commits. */
export interface StoredEvent extends Omit<EventRow, 'sequence'> {
  sequence: string
  position: string
  transaction_id: string
  /** Its personal fields are missing, because the data of the person is erased. */
  erased?: true
}

/** The id of an event, in the stream and for its consumers. */
export function eventId(service: string, event: StoredEvent): string {
  return `${service}-${event.position}`
}

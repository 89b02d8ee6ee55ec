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
  /** The id of the event because of which a service acted by itself. */
  cause?: string | null | undefined
  created_at: Date
}

/** An event in the order of its commit. */
export interface StoredEvent extends Omit<EventRow, 'sequence'> {
  sequence: string
  position: string
  transaction_id: string
}

/** The id of an event, in the stream and for its consumers. */
export function eventId(service: string, event: StoredEvent): string {
  return `${service}-${event.position}`
}

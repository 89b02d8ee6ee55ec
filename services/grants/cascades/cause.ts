import type { Event } from '#gen/roster/feed/v1/feed'
import type { Context } from '../context.ts'

/** The event of a cascade, as it is stored. */
export interface Cause {
  event: Event
  stopped: AbortSignal
  /** Its place among all events of the service. */
  position: string
  aggregateType: string
  aggregateId: string
  sequence: number
  type: string
  payload: { roleKey?: string; roleKeys?: string[] }
}

/** Reads the stored event. Its place says which grants were given before it. */
export async function readCause({ sql }: Context, event: Event, stopped: AbortSignal): Promise<Cause> {
  const [row] = await sql<Omit<Cause, 'event' | 'stopped'>[]>`
    select position::text as position, aggregate_type as "aggregateType", aggregate_id as "aggregateId",
      sequence::int as sequence, type, payload
    from events
    where aggregate_type = ${event.aggregateType} and aggregate_id = ${event.aggregateId} and sequence = ${event.sequence}
  `
  if (!row) throw new Error(`the event ${event.id} is not stored`)
  return { ...row, event, stopped }
}

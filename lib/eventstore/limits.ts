import { integer } from '../config/read-config.ts'
import { limitReached } from '../errors.ts'
import { encodeEvent } from '../events/cloud-event.ts'
import type { EventRow } from '../events/stored-event.ts'

/**
 * Bytes of an event as it is published, headers and data. The broker and every follower can take an event of this size.
 */
export const largestEvent = integer(16 * 1024, 1024 * 1024, 256 * 1024)

/** Seconds between two checkpoints of the audit chain, at the least. */
export const checkpointInterval = integer(1, 86_400, 60)

/** Characters of JSON in an aggregate. Every decision about the aggregate loads them. */
const largestState = 1024 * 1024

// A UTF-16 code unit has at most three bytes in UTF-8. In a header, each byte may become three.
const mostBytesPerCharacter = 3
const mostBytesInHeader = 9
// Bytes for the headers other than the ids, and for fields that the payload leaves out.
const rest = 4 * 1024
// Characters that an event may add to a state beside its payload, such as a time.
const besidePayload = 200

/**
 * Throws RESOURCE_EXHAUSTED LIMIT_REACHED where a published event would exceed `most` bytes, or the object would exceed
 * `largestState`. A change that shrinks an object that is already too large is allowed. So is a change that a service
 * makes by itself because of an event, such as the removal of a removed user's grants.
 */
export function checkSizes(events: EventRow[], before: unknown, after: unknown, most: number): void {
  let added = 0
  for (const event of events) {
    const json = JSON.stringify(event.payload)
    if (json.length * mostBytesPerCharacter + beside(event) > most && publishedBytes(event, json) > most)
      throw limitReached('event.bytes', most, 'The change is too large for one event.')
    added += json.length + besidePayload
  }
  const size = sizeOf(before)
  // A batch may change a large object often. This estimate saves measuring the object each time.
  if (size + added <= largestState) return noteSize(after, size + added)
  noteSize(after, measure(after))
  const isByItself = events.some(({ cause }) => cause)
  if (!isByItself && sizeOf(after) > Math.max(largestState, measure(before)))
    throw limitReached('aggregate.characters', largestState, 'The object has reached its largest size.')
}

function beside({ aggregate_id, organization_id, creator, request_id, cause }: EventRow): number {
  const ids = [aggregate_id, organization_id, creator, request_id, cause ?? '']
  return ids.reduce((sum, id) => sum + id.length * mostBytesInHeader, rest)
}

const sizes = new WeakMap<object, number>()

/** Characters of a state in JSON. For a state that a change left behind, this may be an upper bound. */
function sizeOf(state: unknown): number {
  return (isObject(state) ? sizes.get(state) : undefined) ?? measure(state)
}

function noteSize(state: unknown, size: number): void {
  if (isObject(state)) sizes.set(state, size)
}

const isObject = (state: unknown): state is object => typeof state === 'object' && state !== null
const measure = (state: unknown): number => JSON.stringify(state)?.length ?? 0

function publishedBytes(event: EventRow, json: string): number {
  try {
    // The position is not known yet. No position has more digits than this.
    const stored = { ...event, sequence: String(event.sequence), position: '9'.repeat(19), transaction_id: '' }
    const { head, data } = encodeEvent('service', stored)
    return head.length + Buffer.byteLength(data)
  } catch {
    // Tests use event types that proto/ does not have.
    return Buffer.byteLength(json)
  }
}

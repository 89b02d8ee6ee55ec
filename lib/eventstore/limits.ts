import { integer } from '../config.ts'
import { limitReached } from '../errors.ts'
import { encodeEvent } from '../events/cloud-event.ts'
import type { EventRow } from '../events/stored-event.ts'

/** Bytes that an event may have as it is published: headers and data. So many that the broker and every follower take it. */
export const largestEvent = integer(16 * 1024, 1024 * 1024, 256 * 1024)

/** Characters of JSON that an aggregate may have: every decision about it loads them. */
const largestState = 1024 * 1024

// UTF-8 has no more bytes for a UTF-16 code unit; in a header each byte may take three.
const mostBytesPerCharacter = 3
const mostBytesInHeader = 9
// Of the headers beside the ids, and of fields that the payload leaves out.
const rest = 4 * 1024
// What a state may say of an event beside its payload, such as a time.
const besidePayload = 200

/**
 * Throws RESOURCE_EXHAUSTED LIMIT_REACHED where an event has more bytes than `most` as it is published, or where the change makes an
 * object larger than `largestState`. A change that makes a larger object smaller is taken. So is a change that a service makes by
 * itself because of an event, such as taking the grants of a removed user away.
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
  // A batch may change a large object often: it need not be measured each time.
  if (size + added <= largestState) return noteSize(after, size + added)
  noteSize(after, measure(after))
  const isByItself = events.some(({ cause }) => cause)
  if (!isByItself && sizeOf(after) > Math.max(largestState, measure(before)))
    throw limitReached('aggregate.characters', largestState, 'The object has as much in it as it may.')
}

function beside({ aggregate_id, organization_id, creator, request_id, cause }: EventRow): number {
  const ids = [aggregate_id, organization_id, creator, request_id, cause ?? '']
  return ids.reduce((sum, id) => sum + id.length * mostBytesInHeader, rest)
}

const sizes = new WeakMap<object, number>()

/** Characters of a state in JSON; of one that a change left behind, at most so many. */
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
    // Its place is yet to be given: no other has more digits.
    const stored = { ...event, sequence: String(event.sequence), position: '9'.repeat(19), transaction_id: '' }
    const { headers, data } = encodeEvent('service', stored)
    // A colon, a blank and a line end go with each.
    const head = Object.entries(headers).reduce((sum, [name, value]) => sum + name.length + value.length + 4, 0)
    return head + Buffer.byteLength(data)
  } catch {
    // Of a vocabulary that proto/ does not know, as tests have it.
    return Buffer.byteLength(json)
  }
}

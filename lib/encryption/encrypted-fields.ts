import type { KeyObject } from 'node:crypto'
import { personalFields } from '../events/marked-fields.ts'
import type { StoredEvent } from '../events/stored-event.ts'
import { decryptJson, encryptedAs, encryptJson } from './encrypted-text.ts'

type Fields = Record<string, unknown>

interface Event {
  aggregate_type: string
  aggregate_id: string
  sequence: number | string
  type: string
  payload: object
}

/** The payload of an event with its personal fields encrypted. */
export function encryptPayload(key: KeyObject, event: Event): object {
  const payload = event.payload as Fields
  const fields = personalFields(event.aggregate_type, event.type).filter((name) => payload[name] !== undefined)
  if (fields.length === 0) return payload
  const [open, personal]: [Fields, Fields] = [{ ...payload }, {}]
  for (const name of fields) {
    personal[name] = payload[name]
    delete open[name]
  }
  open[encryptedAs] = encryptJson(key, personal, placeOfEvent(event))
  return open
}

export function isEncrypted({ payload }: Pick<Event, 'payload'>): boolean {
  return encryptedPart(payload) !== undefined
}

/**
 * The event with its personal fields; without a key, the event without them, marked as erased. What the key does not
 * open stays encrypted: somebody changed the row, and it is unreadable.
 */
export function decryptEvent<Row extends StoredEvent>(key: KeyObject | undefined, event: Row): Row {
  if (!isEncrypted(event)) return event
  const { [encryptedAs]: encrypted, ...open } = event.payload as Fields
  if (!key) return { ...event, payload: open, erased: true }
  try {
    const personal = decryptJson(key, String(encrypted), placeOfEvent(event)) as Fields
    return { ...event, payload: { ...open, ...personal } }
  } catch {
    return event
  }
}

/** A state as it is stored. `key`: that of the person whom it is about, wrapped, as `subjectKeyOf` selects it. */
export interface StoredState {
  type: string
  id: string
  sequence: number | string
  state: unknown
  key?: string | null | undefined
}

/** A state, encrypted as a whole. */
export function encryptState(key: KeyObject, { state, ...place }: Omit<StoredState, 'key'>): object {
  return { [encryptedAs]: encryptJson(key, state, placeOfState(place)) }
}

/** The encrypted text of a state; undefined for a plain one. */
export function encryptedPart(state: unknown): string | undefined {
  return (state as Fields | null | undefined)?.[encryptedAs] as string | undefined
}

/** The state of an encrypted text. Throws where somebody changed the row. */
export function decryptState(key: KeyObject, encrypted: string, place: Omit<StoredState, 'key' | 'state'>): unknown {
  return decryptJson(key, encrypted, placeOfState(place))
}

// Neither a type nor a sequence has a slash, so no two places have the same text.
function placeOfEvent({ aggregate_type, aggregate_id, sequence, type }: Event): string {
  return `${sequence}/${aggregate_type}/${type}/${aggregate_id}`
}

function placeOfState({ type, id, sequence }: Omit<StoredState, 'key' | 'state'>): string {
  return `state/${sequence}/${type}/${id}`
}

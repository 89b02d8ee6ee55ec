import type { KeyObject } from 'node:crypto'
import { personalFields } from '../../events/personal-fields.ts'
import type { StoredEvent } from '../../events/stored-event.ts'
import { openJson, sealedAs, sealJson } from './encrypted-text.ts'

type Fields = Record<string, unknown>

interface Event {
  aggregate_type: string
  aggregate_id: string
  sequence: number | string
  type: string
  payload: object
}

/** The payload of an event with its personal fields sealed. */
export function sealPayload(key: KeyObject, event: Event): object {
  const payload = event.payload as Fields
  const fields = personalFields(event.aggregate_type, event.type).filter((name) => payload[name] !== undefined)
  if (fields.length === 0) return payload
  const [open, personal]: [Fields, Fields] = [{ ...payload }, {}]
  for (const name of fields) {
    personal[name] = payload[name]
    delete open[name]
  }
  open[sealedAs] = sealJson(key, personal, placeOfEvent(event))
  return open
}

/** Whether an event has a sealed part. */
export function isSealed({ payload }: Pick<Event, 'payload'>): boolean {
  return sealedPart(payload) !== undefined
}

/**
 * The event with its personal fields; without a key, the event without them, marked as forgotten. What the key does not
 * open stays sealed: somebody changed the row, and nobody can describe it.
 */
export function openEvent<Row extends StoredEvent>(key: KeyObject | undefined, event: Row): Row {
  if (!isSealed(event)) return event
  const { [sealedAs]: sealed, ...open } = event.payload as Fields
  if (!key) return { ...event, payload: open, forgotten: true }
  try {
    const personal = openJson(key, String(sealed), placeOfEvent(event)) as Fields
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

/** A state, sealed as a whole. */
export function sealState(key: KeyObject, { state, ...place }: Omit<StoredState, 'key'>): object {
  return { [sealedAs]: sealJson(key, state, placeOfState(place)) }
}

/** The sealed text of a state; undefined for a plain one. */
export function sealedPart(state: unknown): string | undefined {
  return (state as Fields | null | undefined)?.[sealedAs] as string | undefined
}

/** The state of a sealed text. Throws where somebody changed the row. */
export function openState(key: KeyObject, sealed: string, place: Omit<StoredState, 'key' | 'state'>): unknown {
  return openJson(key, sealed, placeOfState(place))
}

// Neither a type nor a sequence has a slash, so no two places have the same text.
function placeOfEvent({ aggregate_type, aggregate_id, sequence, type }: Event): string {
  return `${sequence}/${aggregate_type}/${type}/${aggregate_id}`
}

function placeOfState({ type, id, sequence }: Omit<StoredState, 'key' | 'state'>): string {
  return `state/${sequence}/${type}/${id}`
}

import { canonicalJson } from '#lib/eventstore/audit/canonical-row'
import { sealedAs } from '#lib/eventstore/personal/sealed-text'
import { personalFields } from '#lib/events/personal-fields'
import type { EventLine } from './read-line.ts'

/** The members of an event's line that a row has in its columns. */
const columns: Record<string, string> = {
  aggregateType: 'aggregate_type',
  aggregateId: 'aggregate_id',
  organizationId: 'organization_id',
  requestId: 'request_id',
  createdAt: 'created_at',
  creator: 'creator',
  type: 'type',
  position: 'position',
  sequence: 'sequence',
  cause: 'cause',
  traceparent: 'traceparent',
}
const known = new Set([...Object.keys(columns), 'kind', 'service', 'payload', 'sealed', 'forgotten', 'proof'])

/**
 * Whether an event is told as its proven row has it. What was sealed is told opened, too, so the payload may have more
 * than the row: the personal fields of such an event, and no others.
 */
export function isTold(line: EventLine, provenRow: string): boolean {
  const row = readRow(provenRow)
  const isSame =
    Object.keys(line).every((name) => known.has(name)) &&
    Object.entries(columns).every(([name, column]) => (line[name] ?? null) === (row?.[column] ?? null))
  const payload = row?.['payload'] as Record<string, unknown> | null | undefined
  if (!isSame || typeof payload !== 'object' || payload === null) return false
  const { [sealedAs]: sealed, ...stored } = payload
  if (sealed !== line.sealed) return false
  if (sealed === undefined)
    return canonicalJson(line.payload) === canonicalJson(stored) && line['forgotten'] === undefined
  const personal = new Set(personalFields(line.aggregateType, String(line['type'])))
  const told = Object.entries(line.payload).filter(([name]) => Object.hasOwn(stored, name) || !mayBeAdded(name))
  return canonicalJson(Object.fromEntries(told)) === canonicalJson(stored)

  // What nobody could open is told as it is sealed.
  function mayBeAdded(name: string): boolean {
    return name === sealedAs ? line.payload[name] === sealed : personal.has(name)
  }
}

function readRow(text: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(text) as Record<string, unknown>
  } catch {
    return undefined
  }
}

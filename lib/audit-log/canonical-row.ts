import type { StoredEvent } from '../events/stored-event.ts'

/** A row of `events` as it is stored. What is encrypted in its payload was not opened. */
export type AuditedRow = StoredEvent

/**
 * The text whose hash stands for a row: its columns as JSON by RFC 8785. Columns that are null are left out, so a
 * column that comes later changes no hash. Whole numbers are texts, and the time ends with milliseconds.
 */
export function canonicalRow(row: AuditedRow): string {
  const { cause, traceparent } = row
  // By name, and written out: each event of the system passes here.
  return (
    `{"aggregate_id":${text(row.aggregate_id)},"aggregate_type":${text(row.aggregate_type)},` +
    (cause == null ? '' : `"cause":${text(cause)},`) +
    `"created_at":"${row.created_at.toISOString()}","creator":${text(row.creator)},` +
    `"organization_id":${text(row.organization_id)},"payload":${canonicalJson(row.payload)},` +
    `"position":"${row.position}","request_id":${text(row.request_id)},` +
    `"sequence":"${row.sequence}",` +
    (traceparent == null ? '' : `"traceparent":${text(traceparent)},`) +
    `"transaction_id":"${row.transaction_id}","type":${text(row.type)}}`
  )
}

/** A value as JSON by RFC 8785: without spaces, and with sorted names. */
export function canonicalJson(value: unknown): string {
  if (typeof value !== 'object' || value === null) return text(value)
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join()}]`
  const members = value as Record<string, unknown>
  // The language sorts by UTF-16 code units, as the RFC wants it.
  const names = Object.keys(members).sort()
  return `{${names.map((name) => `${text(name)}:${canonicalJson(members[name])}`).join()}}`
}

const text = JSON.stringify as (value: unknown) => string

import { storingServices, type StoringService } from '../../../../provision.ts'

/** A line of an export with proofs. */
export type Line =
  | { kind: 'export'; organization: string }
  | { kind: 'page'; service: StoringService; header: string }
  | { kind: 'entries'; service: StoringService; page: number; entries: string }
  | { kind: 'checkpoint'; service: StoringService; jws: string }
  | EventLine
  | { kind: 'object'; service: StoringService; organizationId: string }
  | { kind: 'end'; events: number; objects: number }

/** An event as it is told. */
export interface EventLine {
  kind: 'event'
  service: StoringService
  aggregateType: string
  aggregateId: string
  organizationId: string
  position: string
  sequence: string
  payload: Record<string, unknown>
  /** What is sealed of it, as it is stored. */
  sealed?: string
  proof?: { page: number; key: string; row: string }
  [name: string]: unknown
}

/** Reads a line. Throws an Error that says why no export has such a line. */
export function readLine(text: string): Line {
  const line = JSON.parse(text) as Line
  if (!kinds.has(line.kind)) throw new Error('its kind is unknown')
  if ('service' in line ? !storingServices.includes(line.service) : !ofNoService.has(line.kind))
    throw new Error('its service is unknown')
  // A key of another length could move the border between the key and the row, which are hashed together.
  if (line.kind === 'event' && line.proof && !/^[0-9a-f]{64}$/.test(line.proof.key))
    throw new Error('the key of its proof is none')
  return line
}

const ofNoService = new Set(['export', 'end'])
const kinds = new Set([...ofNoService, 'page', 'entries', 'checkpoint', 'event', 'object'])

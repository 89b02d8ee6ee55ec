import { canonicalJson } from '#lib/eventstore/audit/canonical-row'
import type { ChainPlace, PageHeader } from '#lib/eventstore/audit/page'
import { storingServices, type StoringService } from '../../../../provision.ts'
import { writeJson } from '../../../write-json.ts'
import { isPlace } from '../is-before.ts'

/** A line of an export with proofs. */
export type Line =
  | { kind: 'export'; organization: string }
  | { kind: 'page'; service: StoringService; header: string }
  | { kind: 'entries'; service: StoringService; page: number; entries: string }
  | { kind: 'checkpoint'; service: StoringService; jws: string }
  | EventLine
  | { kind: 'object'; service: StoringService; organizationId: string }
  | { kind: 'omitted'; service: StoringService; table: string; position?: string; bytes: number }
  | { kind: 'end'; events: number; objects: number; omitted?: number }

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

/** Reads a line. Undefined where no export has such a line, be it only that its JSON is written otherwise. */
export function readLine(text: string): Line | undefined {
  const value = readAs(text, writeJson)
  if (!isObject(value)) return undefined
  const shape = Object.entries(shapes).find(([kind]) => kind === value['kind'])?.[1]
  return shape?.(value) ? (value as unknown as Line) : undefined
}

/** Reads the header of a page. Undefined where no page has such a header. */
export function readHeader(text: string): PageHeader | undefined {
  const value = readAs(text, canonicalJson)
  return isHeader(value) ? (value as PageHeader) : undefined
}

/** Reads the row that a proof is about. */
export function readRow(text: string): Record<string, unknown> | undefined {
  const value = readAs(text, canonicalJson)
  return isObject(value) ? value : undefined
}

// Written again, it must be the same text. Otherwise two readers may see two values, such as where a name stands twice.
function readAs(text: string, write: (value: unknown) => string): unknown {
  if (isDeep(text)) return undefined
  try {
    const value = JSON.parse(text) as unknown
    return write(value) === text ? value : undefined
  } catch {
    return undefined
  }
}

/** Objects and lists within each other. Readers of Protobuf stop there, too. */
const deepest = 100

// Whoever walks through a value that is nested without an end runs out of stack.
function isDeep(text: string): boolean {
  let depth = 0
  let isWithin = false
  for (let at = 0; at < text.length; at++) {
    const letter = text[at]
    if (letter === '\\') at++
    else if (letter === '"') isWithin = !isWithin
    else if (isWithin) continue
    else if (letter === '{' || letter === '[') depth++
    else if (letter === '}' || letter === ']') depth--
    if (depth > deepest) return true
  }
  return false
}

type Check = (value: unknown) => boolean

const isText: Check = (value) => typeof value === 'string'
const isWhole: Check = (value) => Number.isSafeInteger(value) && (value as number) > 0
const isCount: Check = (value) => Number.isSafeInteger(value) && (value as number) >= 0
const isHash: Check = (value) => typeof value === 'string' && /^[0-9a-f]{64}$/.test(value)
const isService: Check = (value) => storingServices.some((name) => name === value)
const isSequence: Check = (value) => typeof value === 'string' && /^[1-9]\d{0,14}$/.test(value)
const isPosition: Check = (value) =>
  isPlace({ transactionId: '0', position: value as ChainPlace['position'] }) &&
  String(BigInt(value as string)) === value

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

// It has these members, and no others. Those of `optional` may be missing.
function has(members: Record<string, Check>, optional: Record<string, Check> = {}): Check {
  const known = new Map(Object.entries({ ...members, ...optional }))
  return (value) =>
    isObject(value) &&
    Object.keys(members).every((name) => Object.hasOwn(value, name)) &&
    Object.entries(value).every(([name, member]) => known.get(name)?.(member) === true)
}

const isHeader = has({
  service: isService,
  epoch: isWhole,
  page: isWhole,
  previous: (value) => value === '' || isHash(value),
  first: has({ transactionId: isText, position: isPosition }),
  last: has({ transactionId: isText, position: isPosition }),
  events: isWhole,
  entries: isHash,
})

const kind = { kind: isText }
const ofService = { ...kind, service: isService }
const isTextOrNull: Check = (value) => value === null || isText(value)

const shapes: Record<Line['kind'], Check> = {
  export: has({ ...kind, format: (value) => value === 1, organization: isText, at: isText }),
  page: has({ ...ofService, header: isText }),
  entries: has({ ...ofService, page: isWhole, entries: isText }),
  checkpoint: has({ ...ofService, jws: isText }),
  event: has(
    {
      ...ofService,
      position: isPosition,
      aggregateType: isText,
      aggregateId: isText,
      sequence: isSequence,
      type: isText,
      payload: isObject,
      organizationId: isText,
      creator: isText,
      requestId: isText,
      createdAt: isText,
    },
    {
      cause: isTextOrNull,
      traceparent: isTextOrNull,
      sealed: isText,
      forgotten: (value) => value === true,
      proof: has({ page: isWhole, key: isHash, row: isText }),
    },
  ),
  object: has(
    {
      ...ofService,
      type: isText,
      id: isText,
      organizationId: isText,
      sequence: isWhole,
      createdAt: isText,
      changedAt: isText,
    },
    { state: () => true, unreadable: (value) => value === true },
  ),
  omitted: has({ ...ofService, table: isText, bytes: isCount }, { position: isPosition, type: isText, id: isText }),
  end: has({ ...kind, events: isCount, objects: isCount }, { omitted: isWhole }),
}

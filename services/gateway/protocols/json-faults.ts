import {
  type DescField,
  type DescMessage,
  type DescOneof,
  fromJson,
  type JsonObject,
  type JsonValue,
} from '@bufbuild/protobuf'
import { RosterError, type Violation } from '#lib/errors'
import { registry } from '#lib/registry'
import { expectationOf } from './json-expectations.ts'
import { isStrict } from './json-strictness.ts'
import type { JsonPath } from './json-text.ts'

/** The most faults of a request that an error tells. */
export const maxFaults = 100
const maxNameLength = 200

/** INVALID_ARGUMENT REQUEST_MALFORMED for these fields. */
export function malformed(violations: Violation[]): RosterError {
  const sentences = violations.map(({ field, description }) =>
    field === '' ? `it ${description}` : `${field} ${description}`,
  )
  return new RosterError(
    'INVALID_ARGUMENT',
    'REQUEST_MALFORMED',
    `The request cannot be read: ${sentences.join('; ')}.`,
    {
      violations,
    },
  )
}

/**
 * Finds every fault that keeps a JSON value from being this message, up to a hundred, each with its whole path in JSON
 * spelling. A null beside another member of a oneof is no fault: see `withoutUnset`.
 */
export function findFaults(desc: DescMessage, json: JsonValue): Violation[] {
  const faults: Violation[] = []
  checkMessage(desc, json, '', faults)
  if (faults.length === 0 && !canRead(desc, withoutUnset(desc, json)))
    faults.push({ field: '', description: `is not a valid ${desc.typeName}` })
  return faults.slice(0, maxFaults)
}

/** Leaves out the members of oneofs that are null. Null means not set, but protobuf-es takes some of them for set. */
export function withoutUnset(desc: DescMessage, json: JsonValue): JsonValue {
  if (!isObject(json) || desc.typeName.startsWith('google.protobuf.')) return json
  const kept: [string, JsonValue][] = []
  for (const [name, value] of Object.entries(json)) {
    const field = findField(desc, name)
    const message = field?.message
    if (field && isUnset(field, value)) continue
    if (!message) kept.push([name, value])
    else if (field.fieldKind === 'message') kept.push([name, withoutUnset(message, value)])
    else if (Array.isArray(value)) kept.push([name, value.map((item) => withoutUnset(message, item))])
    else if (isObject(value)) {
      const items = Object.entries(value).map(([key, item]) => [key, withoutUnset(message, item)])
      kept.push([name, Object.fromEntries(items) as JsonObject])
    } else kept.push([name, value])
  }
  return Object.fromEntries(kept)
}

// For a Value and a NullValue, null is a value.
function isUnset({ oneof, message, enum: enumeration }: DescField, value: JsonValue): boolean {
  const typeName = message?.typeName ?? enumeration?.typeName
  const takesNull = typeName === 'google.protobuf.Value' || typeName === 'google.protobuf.NullValue'
  return value === null && oneof !== undefined && !takesNull
}

/** Writes a path in JSON spelling, such as `sendCode.urlTemplate` or `roleKeys[1]`. */
export function spellPath(desc: DescMessage, path: JsonPath): string {
  let spelled = ''
  let message: DescMessage | undefined = desc
  for (const part of path) {
    const field: DescField | undefined = typeof part === 'string' && message ? findField(message, part) : undefined
    spelled = typeof part === 'number' ? `${spelled}[${part}]` : join(spelled, field?.jsonName ?? clip(part))
    if (typeof part === 'string') message = field?.message
  }
  return spelled
}

function checkMessage(desc: DescMessage, json: JsonValue, path: string, faults: Violation[]) {
  if (!isObject(json)) return void faults.push({ field: path, description: 'must be a JSON object' })
  const seen = new Set<DescField>()
  const chosen = new Map<DescOneof, DescField>()
  for (const [name, value] of Object.entries(json)) {
    if (faults.length >= maxFaults) return
    const field = findField(desc, name)
    if (!field) {
      faults.push({ field: join(path, clip(name)), description: 'is not a field of this request' })
      continue
    }
    const fieldPath = join(path, field.jsonName)
    if (seen.has(field)) faults.push({ field: fieldPath, description: 'is given twice, in two spellings' })
    seen.add(field)
    if (field.oneof && !isUnset(field, value)) {
      const other = chosen.get(field.oneof)
      if (other && other !== field)
        faults.push({ field: fieldPath, description: `must not be given together with ${join(path, other.jsonName)}` })
      chosen.set(field.oneof, field)
    }
    checkField(desc, field, value, fieldPath, faults)
  }
}

function checkField(desc: DescMessage, field: DescField, value: JsonValue, path: string, faults: Violation[]) {
  const reads = (json: JsonValue) => canRead(desc, { [field.jsonName]: json })
  if (reads(value)) return
  if (field.fieldKind === 'list') {
    if (!Array.isArray(value)) return void faults.push({ field: path, description: 'must be an array' })
    checkItems(value, 0, reads, (item, index) => checkSingle(field, item, `${path}[${index}]`, faults), faults)
  } else if (field.fieldKind === 'map') {
    if (!isObject(value)) return void faults.push({ field: path, description: 'must be a JSON object' })
    for (const [key, item] of Object.entries(value)) {
      if (faults.length >= maxFaults) return
      if (!reads({ [key]: item })) checkSingle(field, item, `${path}[${JSON.stringify(clip(key))}]`, faults)
    }
  } else checkSingle(field, value, path, faults)
}

// Searches by halves: of a quarter of a million items, few are at fault.
function checkItems(
  items: JsonValue[],
  start: number,
  reads: (json: JsonValue) => boolean,
  check: (item: JsonValue, index: number) => void,
  faults: Violation[],
) {
  if (faults.length >= maxFaults || reads(items)) return
  if (items.length === 1) return check(items[0]!, start)
  const half = items.length >> 1
  checkItems(items.slice(0, half), start, reads, check, faults)
  checkItems(items.slice(half), start + half, reads, check, faults)
}

function checkSingle(field: DescField, value: JsonValue, path: string, faults: Violation[]) {
  if (field.message && !field.message.typeName.startsWith('google.protobuf.'))
    checkMessage(field.message, value, path, faults)
  else faults.push({ field: path, description: `must be ${expectationOf(field, value)}` })
}

function canRead(desc: DescMessage, json: JsonValue): boolean {
  try {
    fromJson(desc, json, { registry })
    return isStrict(desc, json)
  } catch {
    return false
  }
}

function findField(desc: DescMessage, name: string): DescField | undefined {
  return desc.fields.find((field) => field.jsonName === name || field.name === name)
}

function isObject(json: JsonValue): json is JsonObject {
  return typeof json === 'object' && json !== null && !Array.isArray(json)
}

function join(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`
}

function clip(name: string): string {
  return name.length > maxNameLength ? `${name.slice(0, maxNameLength)}…` : name
}

import {
  type DescField,
  type DescMessage,
  type DescOneof,
  fromJson,
  type JsonValue,
  type Message,
  mergeFromJson,
  ScalarType,
} from '@bufbuild/protobuf'
import type { Violation } from '#lib/errors'
import { registry } from '#lib/registry'
import { malformed, maxFaults } from './errors.ts'
import { type Json, type JsonPath, wholeNumber } from './text.ts'

const maxNameLength = 200

/**
 * Reads the fields of a JSON value into a message. INVALID_ARGUMENT REQUEST_MALFORMED names every fault, up to a hundred,
 * with its whole path in JSON spelling: protobuf-es reports the first one alone, in its own words.
 */
export function readFields(desc: DescMessage, message: Message, json: Json): void {
  tidy(desc, json)
  try {
    mergeFromJson(desc, message, json as JsonValue, { registry })
  } catch {
    const faults: Violation[] = []
    checkMessage(desc, json, '', faults)
    if (faults.length === 0) faults.push({ field: '', description: `is not a valid ${desc.typeName}` })
    throw malformed(faults.slice(0, maxFaults))
  }
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

/** Finds a field by its name in JSON or in the contract. */
export function findField(desc: DescMessage, name: string): DescField | undefined {
  let known = fieldsOf.get(desc)
  if (!known) {
    const named = desc.fields.flatMap((field) => [[field.name, field] as const, [field.jsonName, field] as const])
    fieldsOf.set(desc, (known = new Map(named)))
  }
  return known.get(name)
}

const fieldsOf = new WeakMap<DescMessage, ReadonlyMap<string, DescField>>()

// Spells values as protobuf-es reads them, and leaves out members of oneofs that are null: it takes some of them for
// set. What it would read and ProtoJSON does not have becomes a value that no field takes.
function tidy(desc: DescMessage, json: Json): void {
  if (!isObject(json) || isGoogles(desc)) return
  for (const [name, value] of Object.entries(json)) {
    const field = findField(desc, name)
    if (!field) continue
    const isTwice = field.name !== field.jsonName && field.name in json && field.jsonName in json
    if (isUnset(field, value) && !isTwice) delete json[name]
    else if ((field.fieldKind === 'list' && Array.isArray(value)) || (field.fieldKind === 'map' && isObject(value)))
      for (const [key, item] of Object.entries(value)) (value as Record<string, Json>)[key] = tidyItem(field, item)
    else json[name] = tidyItem(field, value)
  }
}

const noValue = false

function tidyItem({ scalar, message }: DescField, value: Json): Json {
  if (message?.typeName === 'google.protobuf.Timestamp')
    return typeof value === 'string' && !isDate(value) ? noValue : value
  if (message) tidy(message, value)
  else if (whole.has(scalar)) return typeof value === 'string' ? (wholeNumber(value) ?? noValue) : value
  else if (typeof value === 'bigint' && (scalar === ScalarType.DOUBLE || scalar === ScalarType.FLOAT))
    return Number(value)
  return value
}

// protobuf-es takes the 30th of February for a day of March. The hour 24 is the next day to JavaScript, and nothing in
// RFC 3339.
function isDate(time: string): boolean {
  const [year, month, day, hour] = [0, 5, 8, 11].map((at) => Number.parseInt(time.slice(at), 10))
  return day! <= new Date(Date.UTC(year!, month, 0)).getUTCDate() && hour! < 24
}

// For a Value and a NullValue, null is a value.
function isUnset({ oneof, message, enum: enumeration }: DescField, value: Json): boolean {
  const typeName = message?.typeName ?? enumeration?.typeName
  const takesNull = typeName === 'google.protobuf.Value' || typeName === 'google.protobuf.NullValue'
  return value === null && oneof !== undefined && !takesNull
}

function checkMessage(desc: DescMessage, json: Json, path: string, faults: Violation[]) {
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

function checkField(desc: DescMessage, field: DescField, value: Json, path: string, faults: Violation[]) {
  const reads = (json: Json) => canRead(desc, { [field.jsonName]: json })
  if (reads(value)) return
  const isList = field.fieldKind === 'list'
  if (!isList && field.fieldKind !== 'map') return checkSingle(field, value, path, faults)
  if (isList ? !Array.isArray(value) : !isObject(value))
    return void faults.push({ field: path, description: `must be ${isList ? 'an array' : 'a JSON object'}` })
  for (const [key, item] of Object.entries(value as Record<string, Json>))
    if (faults.length < maxFaults && !reads(isList ? [item] : { [key]: item }))
      checkSingle(field, item, `${path}[${isList ? key : JSON.stringify(clip(key))}]`, faults)
}

function checkSingle(field: DescField, value: Json, path: string, faults: Violation[]) {
  if (field.message && !isGoogles(field.message)) checkMessage(field.message, value, path, faults)
  else faults.push({ field: path, description: `must be ${expectationOf(field, value)}` })
}

function canRead(desc: DescMessage, json: Json): boolean {
  try {
    fromJson(desc, json as JsonValue, { registry })
    return true
  } catch {
    return false
  }
}

/** Says in words which value a field expects instead of this one. */
function expectationOf({ scalar, message, enum: enumeration }: DescField, value: Json): string {
  if (enumeration) return `one of ${enumeration.values.map(({ name }) => name).join(', ')}`
  if (message) return wellKnown.get(message.typeName) ?? `a ${message.typeName}`
  if (whole.has(scalar)) {
    const name = ScalarType[scalar]
    return `a whole number of ${name.slice(-2)} bits${/^UINT|^FIXED/.test(name) ? ', not negative' : ''}`
  }
  if (scalar === ScalarType.STRING) return typeof value === 'string' ? 'well-formed Unicode text' : 'a string'
  if (scalar === ScalarType.BOOL) return 'true or false'
  return scalar === ScalarType.BYTES ? 'a string in base64' : 'a number'
}

const wellKnown = new Map([
  ['google.protobuf.Timestamp', 'an RFC 3339 time'],
  ['google.protobuf.Duration', 'a duration in seconds, such as "60s"'],
])

const whole = new Set<ScalarType | undefined>([
  ScalarType.INT32,
  ScalarType.SINT32,
  ScalarType.SFIXED32,
  ScalarType.UINT32,
  ScalarType.FIXED32,
  ScalarType.INT64,
  ScalarType.SINT64,
  ScalarType.SFIXED64,
  ScalarType.UINT64,
  ScalarType.FIXED64,
])

function isObject(json: Json): json is { [name: string]: Json } {
  return typeof json === 'object' && json !== null && !Array.isArray(json)
}

function isGoogles({ typeName }: DescMessage): boolean {
  return typeName.startsWith('google.protobuf.')
}

function join(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`
}

function clip(name: string): string {
  return name.length > maxNameLength ? `${name.slice(0, maxNameLength)}…` : name
}

import { create, type DescField, type DescMessage, type Message, ScalarType } from '@bufbuild/protobuf'
import { reflect } from '@bufbuild/protobuf/reflect'
import { RosterError, type Violation } from '#lib/errors'
import { tooManyValues } from '../../listen/body.ts'
import type { Match } from '../../call/routes.ts'
import { fewValues, isMany, type ValueLimit } from '../../rate-limits/value-limit.ts'
import { findField, malformed, maxFaults, readFields, spellPath } from './fields.ts'
import { type Json, parseText, TextFault } from './text.ts'
import { splitPair, unescapePart } from '../percent-encoding.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * Reads the request message of a call over HTTP from its body, path variables and query string, strictly.
 * INVALID_ARGUMENT REQUEST_MALFORMED names the field, or the place where the text is broken. RESOURCE_EXHAUSTED
 * REQUEST_TOO_LARGE; the errors of the limit of values.
 */
export function readRequest(
  { method, variables }: Pick<Match, 'method' | 'variables'>,
  query: string,
  body: Uint8Array | undefined,
  limit = fewValues,
): Message {
  const desc = method.desc.input
  const message = readBodyMessage(desc, body, limit)
  const violations: Violation[] = []
  for (const { field, text } of variables) bindVariable(desc, message, field, text, violations)
  if (violations.length > 0) throw malformed(violations)
  if (query !== '') {
    const bound = method.http?.hasBody ? desc.fields : variables.map(({ field }) => field)
    bindQuery(desc, message, query, bound)
  }
  return message
}

function readBodyMessage(desc: DescMessage, body: Uint8Array | undefined, { most, count }: ValueLimit): Message {
  const message = create(desc)
  if (body === undefined) return message
  const text = decode(body)
  if (/^[ \t\r\n]*$/.test(text)) return message
  const values = countSeparators(body)
  if (isMany(values)) count(Math.min(values, most))
  readFields(desc, message, parse(desc, text, most))
  return message
}

// About as many as there are values. These letters may stand in strings too, so there may be fewer values.
function countSeparators(body: Uint8Array): number {
  let values = 0
  for (let at = 0; at < body.length; at++) {
    const byte = body[at]
    if (byte === comma || byte === brace || byte === bracket) values++
  }
  return values
}

const [comma, brace, bracket] = Buffer.from(',{[') as unknown as [number, number, number]

function decode(body: Uint8Array): string {
  try {
    return utf8.decode(body)
  } catch {
    const offset = firstMalformedByte(body)
    throw new RosterError('INVALID_ARGUMENT', 'REQUEST_MALFORMED', `The body is not valid UTF-8 at byte ${offset}.`, {
      metadata: { offset: String(offset) },
    })
  }
}

// The first byte that is another one after decoding and encoding again.
function firstMalformedByte(body: Uint8Array): number {
  const repaired = Buffer.from(Buffer.from(body).toString('utf8'))
  let offset = 0
  while (offset < body.length && body[offset] === repaired[offset]) offset++
  return offset
}

function parse(desc: DescMessage, text: string, most: number): Json {
  try {
    return parseText(text, most)
  } catch (error) {
    throw error instanceof TextFault ? explain(desc, text, error, most) : error
  }
}

function explain(desc: DescMessage, text: string, fault: TextFault, most: number): RosterError {
  if (fault.kind === 'too many') return tooManyValues(most)
  if (fault.kind === 'duplicate')
    return malformed([{ field: spellPath(desc, fault.path), description: 'is given twice' }])
  const lines = text.slice(0, fault.offset).split('\n')
  const metadata = { line: String(lines.length), column: String(lines.at(-1)!.length + 1) }
  const sentence = `The body is not valid JSON at line ${metadata.line}, column ${metadata.column}: ${fault.message}.`
  return new RosterError('INVALID_ARGUMENT', 'REQUEST_MALFORMED', sentence, { metadata })
}

function bindVariable(desc: DescMessage, message: Message, field: DescField, text: string, violations: Violation[]) {
  const value = unescapePart(text)
  const description = `the path has it as ${JSON.stringify(value)}`
  if (value === undefined) {
    violations.push({ field: field.jsonName, description: 'is not percent-encoded UTF-8 in the path' })
    return
  }
  const target = reflect(desc, message)
  const before = target.isSet(field) ? target.get(field) : undefined
  bind(desc, message, field, value)
  if (before !== undefined && before !== target.get(field))
    violations.push({ field: field.jsonName, description: `must be left out or be the same: ${description}` })
}

function bind(desc: DescMessage, message: Message, field: DescField, text: string) {
  if (field.fieldKind === 'scalar' && field.scalar === ScalarType.STRING) reflect(desc, message).set(field, text)
  else readFields(desc, message, { [field.jsonName]: toJsonValue(field, text) })
}

function bindQuery(desc: DescMessage, message: Message, query: string, bound: readonly DescField[]) {
  const json: Record<string, Json> = {}
  const violations: Violation[] = []
  for (const pair of query.split('&')) {
    if (pair === '') continue
    if (violations.length === maxFaults) break
    const [name, value] = splitPair(pair)
    const field = name === undefined ? undefined : findField(desc, name)
    if (name === undefined || value === undefined)
      violations.push({ field: name ?? '', description: 'is not percent-encoded UTF-8 in the query' })
    else if (!field || bound.includes(field))
      violations.push({ field: name.slice(0, 200), description: 'is not a query parameter of this request' })
    else if (field.fieldKind === 'list') ((json[field.jsonName] ??= []) as Json[]).push(toJsonValue(field, value))
    else if (Object.hasOwn(json, field.jsonName))
      violations.push({ field: field.jsonName, description: 'is given twice' })
    else json[field.jsonName] = toJsonValue(field, value)
  }
  if (violations.length > 0) throw malformed(violations)
  readFields(desc, message, json)
}

// JSON takes a string for a number, an enum name and a time as well. Booleans and enum numbers need their own form.
function toJsonValue(field: DescField, text: string): Json {
  if (field.scalar === ScalarType.BOOL && (text === 'true' || text === 'false')) return text === 'true'
  if (field.enum && /^-?\d{1,10}$/.test(text)) return Number(text)
  return text
}

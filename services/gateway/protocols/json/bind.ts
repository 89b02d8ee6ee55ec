import { type DescField, type DescMessage, type Message, ScalarType } from '@bufbuild/protobuf'
import { reflect } from '@bufbuild/protobuf/reflect'
import type { Violation } from '#lib/errors'
import type { Variable } from '../../call/routes.ts'
import { malformed, maxFaults } from './errors.ts'
import { findField, readFields } from './fields.ts'
import type { Json } from './text.ts'

/** Sets the fields that the variables of a path name. INVALID_ARGUMENT REQUEST_MALFORMED. */
export function bindVariables(desc: DescMessage, message: Message, variables: Variable[]): void {
  const violations: Violation[] = []
  for (const { field, text } of variables) bindVariable(desc, message, field, text, violations)
  if (violations.length > 0) throw malformed(violations)
}

function bindVariable(desc: DescMessage, message: Message, field: DescField, text: string, violations: Violation[]) {
  const value = unescapePart(text)
  if (value === undefined) {
    violations.push({ field: field.jsonName, description: 'is not percent-encoded UTF-8 in the path' })
    return
  }
  const target = reflect(desc, message)
  const before = target.isSet(field) ? target.get(field) : undefined
  bind(desc, message, field, value)
  if (before === undefined || before === target.get(field)) return
  const description = `must be left out or be the same: the path has it as ${JSON.stringify(value)}`
  violations.push({ field: field.jsonName, description })
}

function bind(desc: DescMessage, message: Message, field: DescField, text: string) {
  if (field.fieldKind === 'scalar' && field.scalar === ScalarType.STRING) reflect(desc, message).set(field, text)
  else readFields(desc, message, { [field.jsonName]: toJsonValue(field, text) })
}

/** Sets the fields that a query string names; not those in `bound`. INVALID_ARGUMENT REQUEST_MALFORMED. */
export function bindQuery(desc: DescMessage, message: Message, query: string, bound: readonly DescField[]) {
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

/** Splits a part of a query or a form into name and value. Each is undefined where it is not percent-encoded UTF-8. */
export function splitPair(pair: string): [string | undefined, string | undefined] {
  const at = pair.indexOf('=')
  const parts = at < 0 ? [pair, ''] : [pair.slice(0, at), pair.slice(at + 1)]
  const [name, value] = parts.map((part) => unescapePart(part.replaceAll('+', ' ')))
  return [name, value]
}

/** Decodes percent-encoded UTF-8. Undefined where the text is none. */
export function unescapePart(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

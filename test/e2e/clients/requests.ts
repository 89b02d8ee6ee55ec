import { type DescMessage, fromJson, type JsonObject, type JsonValue, ScalarType, toJson } from '@bufbuild/protobuf'
import { registry } from '#lib/registry'
import { validMessage } from '../../support/smuggling.ts'
import { validate } from '#lib/rpc/validate'
import type { Operation } from '../../examples/contract.ts'
import { describeOperation } from './messages.ts'

/**
 * Requests of an operation that break no rule, made of its messages alone. One has every field, and one as few as may
 * be. The others have these few and one more, each another one. Fields named as one of the `values` have that.
 */
export function requestsOf(operation: Operation, values: Record<string, string>): JsonObject[] {
  const { input } = describeOperation(operation)
  const full = withValues(input, toJson(input, validMessage(input), { registry }) as JsonObject, values)
  const paths = pathsOf(full)
  let least = full
  for (const path of paths) {
    const less = without(least, path)
    if (isValid(input, less)) least = less
  }
  const more = paths.map((path) => withPath(least, path, at(full, path)!)).filter((request) => isValid(input, request))
  const all = [least, ...more, full].map((request) => JSON.stringify(request))
  return [...new Set(all)].map((text) => JSON.parse(text) as JsonObject)
}

function withValues(desc: DescMessage, json: JsonObject, values: Record<string, string>, isOfList = false): JsonObject {
  const changed = { ...json }
  for (const field of desc.fields) {
    const { jsonName, message, fieldKind } = field
    if (message && fieldKind === 'message' && message.typeName.startsWith('roster.') && changed[jsonName])
      changed[jsonName] = withValues(message, changed[jsonName] as JsonObject, values, isOfList)
    if (message && fieldKind === 'list' && message.typeName.startsWith('roster.') && Array.isArray(changed[jsonName]))
      changed[jsonName] = changed[jsonName].map((one) => withValues(message, one as JsonObject, values, true))
    // Of a oneof, one member alone is set.
    if (field.oneof?.fields.some((other) => other !== field && changed[other.jsonName] !== undefined)) continue
    // Of a list, such as the queries of a search, the enums stay.
    if (field.enum && isOfList) continue
    const value = field.enum ? field.enum.values.at(-1)!.name : values[jsonName]
    if (value === undefined || (!field.enum && field.scalar !== ScalarType.STRING)) continue
    const candidate = { ...changed, [jsonName]: fieldKind === 'list' ? [value] : value }
    if (isValid(desc, candidate)) Object.assign(changed, candidate)
  }
  return changed
}

function isValid(desc: DescMessage, json: JsonObject): boolean {
  return validate(desc, fromJson(desc, json, { registry })).length === 0
}

type Path = string[]

function pathsOf(json: JsonObject): Path[] {
  return Object.entries(json).flatMap(([name, value]) => [
    ...(isObject(value) ? pathsOf(value).map((path) => [name, ...path]) : []),
    [name],
  ])
}

function at(json: JsonValue | undefined, [first, ...rest]: Path): JsonValue | undefined {
  if (first === undefined) return json
  return isObject(json) ? at(json[first], rest) : undefined
}

function without(json: JsonObject, [first, ...rest]: Path): JsonObject {
  const { [first!]: inner, ...others } = json
  if (rest.length === 0 || !isObject(inner)) return others
  return { ...others, [first!]: without(inner, rest) }
}

function withPath(json: JsonObject, [first, ...rest]: Path, value: JsonValue): JsonObject {
  if (rest.length === 0) return { ...json, [first!]: value }
  const inner = json[first!]
  return { ...json, [first!]: withPath(isObject(inner) ? inner : {}, rest, value) }
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

import type { DescMessage, JsonObject, JsonValue } from '@bufbuild/protobuf'
import { asksForMore, isWhole } from './json-strictness.ts'

type Holder = Record<string, JsonValue>

/**
 * Parses the JSON of a message. Whole numbers get the one spelling that protobuf-es reads exactly: digits. ProtoJSON
 * also has them with a fraction of zeros or an exponent, in quotes or without, and of any size.
 */
export function parseExactly(desc: DescMessage, text: string): JsonValue {
  if (!asksForMore(desc) || !unusual.test(text)) return JSON.parse(text) as JsonValue
  const written: Written = new Map()
  const json = parseNoting(text, written)
  respell(desc, json, written)
  return json
}

/** Numbers as they are written, by what holds them and by their names there. */
type Written = Map<object, Map<string, string>>

// A fraction, an exponent, or more digits than a double surely holds. Few bodies have one, and it costs several times as
// much to parse them.
const unusual = /[":[,\s]-?\d(?:\d{15}|\d*[.eE])/

function parseNoting(text: string, written: Written): JsonValue {
  return JSON.parse(text, function (this: object, name: string, value: unknown, context?: { source?: string }) {
    if (typeof value !== 'number' || Number.isSafeInteger(value)) return value
    const texts = written.get(this) ?? new Map<string, string>()
    written.set(this, texts.set(name, context?.source ?? ''))
    return value
  }) as JsonValue
}

function respell(desc: DescMessage, json: JsonValue, written: Written): void {
  if (!isHolder(json)) return
  for (const [name, value] of Object.entries(json)) {
    const field = desc.fields.find((field) => field.jsonName === name || field.name === name)
    if (!field || (!isWhole(field) && !field.message)) continue
    // A list is the holder of its items by their indices, and a map that of its values.
    const holder = field.fieldKind === 'list' || field.fieldKind === 'map' ? value : json
    if (holder === null || typeof holder !== 'object') continue
    for (const key of holder === json ? [name] : Object.keys(holder)) {
      const item = (holder as Holder)[key]!
      if (field.message) respell(field.message, item, written)
      else {
        const digits = digitsOf(typeof item === 'string' ? item : (written.get(holder)?.get(key) ?? ''))
        if (digits !== undefined) (holder as Holder)[key] = digits
      }
    }
  }
}

function isHolder(json: JsonValue): json is JsonObject {
  return typeof json === 'object' && json !== null && !Array.isArray(json)
}

/** No whole number of 64 bits has more. */
const mostDigits = 20

function digitsOf(text: string): string | undefined {
  const [, sign, before, after = '', exponent = '0'] =
    /^(-?)(0|[1-9]\d*)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? []
  if (before === undefined) return undefined
  const digits = before + after
  if (/^0+$/.test(digits)) return '0'
  const end = before.length + Number(exponent)
  if (end > mostDigits + digits.length || /[1-9]/.test(digits.slice(Math.max(end, 0)))) return undefined
  const whole = digits.slice(0, end).padEnd(end, '0').replace(/^0+/, '')
  return whole.length > mostDigits ? undefined : `${sign}${whole}`
}

import { type DescField, type DescMessage, type JsonValue, ScalarType } from '@bufbuild/protobuf'

const integers = new Set<ScalarType | undefined>([
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

/** Whether the values of the field are whole numbers. */
export function isWhole({ scalar }: DescField): boolean {
  return integers.has(scalar)
}

/**
 * Whether the numbers and times of a JSON value, which protobuf-es has read as this message, are as canonical JSON has
 * them. protobuf-es also takes `"0x10"` and `" 5"` for numbers, a large number for the next one that a double holds, and
 * the 30th of February for a day of March.
 */
export function isStrict(desc: DescMessage, json: JsonValue): boolean {
  if (!asksForMore(desc) || typeof json !== 'object' || json === null || Array.isArray(json)) return true
  return Object.entries(json).every(([name, value]) => {
    const field = desc.fields.find((field) => field.jsonName === name || field.name === name)
    if (!field || value === null) return true
    if (field.fieldKind === 'list') return (value as JsonValue[]).every((item) => isStrictItem(field, item))
    if (field.fieldKind === 'map') return Object.values(value).every((item: JsonValue) => isStrictItem(field, item))
    return isStrictItem(field, value)
  })
}

/** The same for a text that protobuf-es has read. */
export function isStrictText(desc: DescMessage, text: string): boolean {
  return !asksForMore(desc) || isStrict(desc, JSON.parse(text) as JsonValue)
}

function isStrictItem({ scalar, message }: DescField, value: JsonValue): boolean {
  if (integers.has(scalar))
    return typeof value === 'string' ? /^-?(0|[1-9]\d*)$/.test(value) : Number.isSafeInteger(value)
  if (!message) return true
  return isTime(message) ? isDate(value as string) : isStrict(message, value)
}

const isTime = ({ typeName }: DescMessage) => typeName === 'google.protobuf.Timestamp'

// The hour 24 is the next day to JavaScript, and nothing in RFC 3339.
function isDate(time: string): boolean {
  const [year, month, day, hour] = [0, 5, 8, 11].map((at) => Number.parseInt(time.slice(at), 10)) as [number, number, number, number] // prettier-ignore
  return day <= new Date(Date.UTC(year, month, 0)).getUTCDate() && hour < 24
}

const known = new WeakMap<DescMessage, boolean>()

/** Whether the message has numbers or times. Most have neither, and no call should pay for those that have. */
export function asksForMore(desc: DescMessage): boolean {
  let asks = known.get(desc)
  if (asks === undefined) known.set(desc, (asks = search(desc, new Set())))
  return asks
}

function search(desc: DescMessage, seen: Set<DescMessage>): boolean {
  if (seen.has(desc)) return false
  seen.add(desc)
  return desc.fields.some(
    ({ scalar, message }) => integers.has(scalar) || (message && (isTime(message) || search(message, seen))),
  )
}

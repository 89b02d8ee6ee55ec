import { type DescMessage, fromBinary, isMessage, type Message } from '@bufbuild/protobuf'
import { type Timestamp, TimestampSchema } from '@bufbuild/protobuf/wkt'
import { createValidator, type Violation as RuleViolation } from '@bufbuild/protovalidate'
import { reflect, type ReflectMessage } from '@bufbuild/protobuf/reflect'
import { RosterError, type Violation } from '../errors.ts'
import { registry } from '../registry.ts'
import { isStrictWire } from './wire.ts'

const patterns = new Map<string, RegExp>()

// All patterns come from the contract and run in linear time, so the platform's RegExp is safe.
const validator = createValidator({
  registry,
  regexMatch(pattern, text) {
    let regexp = patterns.get(pattern)
    if (!regexp) patterns.set(pattern, (regexp = new RegExp(pattern, 'u')))
    return regexp.test(text)
  },
})

/**
 * Reads a message strictly. INVALID_ARGUMENT REQUEST_MALFORMED for bytes that deviate from the message type in any way.
 * Unknown fields are dropped, unless `readUnknownFields` keeps them.
 */
export function parse(
  desc: DescMessage,
  bytes: Uint8Array,
  { readUnknownFields } = { readUnknownFields: false },
): Message {
  if (!isStrictWire(desc, bytes)) throw malformed(desc)
  return orMalformed(desc, () => fromBinary(desc, bytes, { readUnknownFields }))
}

/**
 * Returns the result of `read`. INVALID_ARGUMENT REQUEST_MALFORMED where it throws, for example at an impossible time.
 * If the message is known, the error names the fields.
 */
export function orMalformed<T>(desc: DescMessage, read: () => T, message?: Message): T {
  try {
    return read()
  } catch (cause) {
    throw malformed(desc, cause, message && findUnstorable(reflect(desc, message), ''))
  }
}

function malformed(desc: DescMessage, cause?: unknown, violations: Violation[] = []): RosterError {
  return new RosterError('INVALID_ARGUMENT', 'REQUEST_MALFORMED', `The request is not a valid ${desc.typeName}.`, {
    cause,
    violations,
  })
}

/** All violations of the contract's rules for the message. */
export function validate(desc: DescMessage, message: Message): Violation[] {
  const result = validator.validate(desc, message)
  if (result.kind === 'error') throw result.error
  const broken = result.kind === 'invalid' ? result.violations.map(toViolation) : []
  return [...broken, ...findUnstorable(reflect(desc, message), '')]
}

function toViolation(violation: RuleViolation): Violation {
  let field = ''
  for (const part of violation.field) {
    if (part.kind === 'field') field += field === '' ? part.jsonName : `.${part.jsonName}`
    else if (part.kind === 'oneof') field += field === '' ? part.name : `.${part.name}`
    else if (part.kind === 'list_sub') field += `[${part.index}]`
    else if (part.kind === 'map_sub') field += `[${JSON.stringify(String(part.key))}]`
  }
  return { field, description: violation.message }
}

// PostgreSQL's text and jsonb hold every character except U+0000. RFC 3339 has only years of four digits. Operations
// count in doubles.
function findUnstorable(message: ReflectMessage, prefix: string): Violation[] {
  const found: Violation[] = []
  const check = (value: unknown, path: string) => {
    if (typeof value === 'string' && value.includes('\0'))
      found.push({ field: path, description: 'must not contain the character U+0000' })
    if (typeof value === 'bigint' && !Number.isSafeInteger(Number(value)))
      found.push({ field: path, description: `must be at most ${Number.MAX_SAFE_INTEGER}` })
  }
  const checkMessage = (inner: ReflectMessage, path: string) => {
    if (!isTime(inner.message)) found.push(...findUnstorable(inner, `${path}.`))
    else if (!isStorableTime(inner.message))
      found.push({ field: path, description: 'must be from 0001-01-01T00:00:00Z to 9999-12-31T23:59:59.999Z' })
  }
  for (const field of message.fields) {
    if (!message.isSet(field)) continue
    const path = prefix + field.jsonName
    if (field.fieldKind === 'scalar') check(message.get(field), path)
    else if (field.fieldKind === 'message') checkMessage(message.get(field), path)
    else if (field.fieldKind === 'list' && field.listKind === 'scalar') {
      let index = 0
      for (const item of message.get(field)) check(item, `${path}[${index++}]`)
    } else if (field.fieldKind === 'list' && field.listKind === 'message') {
      let index = 0
      for (const item of message.get(field)) checkMessage(item as ReflectMessage, `${path}[${index++}]`)
    }
  }
  return found
}

const isTime = (message: Message): message is Timestamp => isMessage(message, TimestampSchema)

const [firstSecond, lastSecond] = ['0001-01-01T00:00:00Z', '9999-12-31T23:59:59Z'].map((time) =>
  BigInt(Date.parse(time) / 1000),
) as [bigint, bigint]

// A Date has milliseconds. Later nanoseconds of the last one would round up into the year 10000.
function isStorableTime(time: Message): boolean {
  const { seconds, nanos } = time as Timestamp
  const isLate = seconds > lastSecond || (seconds === lastSecond && nanos > 999_000_000)
  return seconds >= firstSecond && !isLate && nanos >= 0 && nanos < 1e9
}

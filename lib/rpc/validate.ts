import { type DescField, type DescMessage, fromBinary, isMessage, type Message } from '@bufbuild/protobuf'
import { type Timestamp, TimestampSchema } from '@bufbuild/protobuf/wkt'
import { createValidator, type Violation as RuleViolation } from '@bufbuild/protovalidate'
import { isReflectMessage, reflect, type ReflectMessage } from '@bufbuild/protobuf/reflect'
import { invalid, RosterError, type Violation } from '../errors.ts'
import { nameFaults } from '../names/name-faults.ts'
import { registry } from '../registry.ts'
import { nameKindOf } from './name-kind.ts'
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
 * Returns the result of `read`. Where it throws, INVALID_ARGUMENT VALIDATION_FAILED names the fields whose values cannot
 * be kept, such as a number beyond 2^53 - 1. Without such a field, or without the message: REQUEST_MALFORMED.
 */
export function orMalformed<T>(desc: DescMessage, read: () => T, message?: Message): T {
  try {
    return read()
  } catch (cause) {
    const violations = message ? findFaults(reflect(desc, message), '', unstorable) : []
    throw violations.length > 0 ? invalid(violations) : malformed(desc, cause)
  }
}

function malformed(desc: DescMessage, cause?: unknown): RosterError {
  return new RosterError('INVALID_ARGUMENT', 'REQUEST_MALFORMED', `The request is not a valid ${desc.typeName}.`, {
    cause,
  })
}

/** All violations of the contract's rules for the message. */
export function validate(desc: DescMessage, message: Message): Violation[] {
  const result = validator.validate(desc, message)
  if (result.kind === 'error') throw result.error
  const broken = result.kind === 'invalid' ? result.violations.map(toViolation) : []
  const faultsOf = (value: unknown, field: DescField) => {
    const faults = unstorable(value)
    return faults.length > 0 ? faults : misleading(value, field)
  }
  return [...broken, ...findFaults(reflect(desc, message), '', faultsOf)]
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
function unstorable(value: unknown): string[] {
  if (typeof value === 'string' && value.includes('\0')) return ['must not contain the character U+0000']
  if (typeof value === 'bigint' && !Number.isSafeInteger(Number(value)))
    return [`must be at most ${Number.MAX_SAFE_INTEGER}`]
  return isMessage(value, TimestampSchema) && !isStorableTime(value)
    ? ['must be from 0001-01-01T00:00:00Z to 9999-12-31T23:59:59.999Z']
    : []
}

function misleading(value: unknown, field: DescField): string[] {
  const kind = nameKindOf(field)
  return kind === undefined ? [] : nameFaults(kind, value as string)
}

type FaultsOf = (value: unknown, field: DescField) => string[]

/** Asks for the faults of each value that is set, at any depth. */
function findFaults(message: ReflectMessage, prefix: string, faultsOf: FaultsOf): Violation[] {
  return message.fields
    .filter((field) => message.isSet(field))
    .flatMap((field) => {
      const path = prefix + field.jsonName
      const look = (value: unknown, at: string): Violation[] => {
        const inner = isReflectMessage(value) && !isTime(value.message) ? findFaults(value, `${at}.`, faultsOf) : []
        const faults = faultsOf(isReflectMessage(value) ? value.message : value, field)
        return [...faults.map((description) => ({ field: at, description })), ...inner]
      }
      if (field.fieldKind !== 'list') return field.fieldKind === 'map' ? [] : look(message.get(field), path)
      return [...message.get(field)].flatMap((item, index) => look(item, `${path}[${index}]`))
    })
}

const isTime = (message: Message): message is Timestamp => isMessage(message, TimestampSchema)

const [firstSecond, lastSecond] = ['0001-01-01T00:00:00Z', '9999-12-31T23:59:59Z'].map((time) =>
  BigInt(Date.parse(time) / 1000),
) as [bigint, bigint]

// A Date has milliseconds. Later nanoseconds of the last one would round up into the year 10000.
function isStorableTime({ seconds, nanos }: Timestamp): boolean {
  const isLate = seconds > lastSecond || (seconds === lastSecond && nanos > 999_000_000)
  return seconds >= firstSecond && !isLate && nanos >= 0 && nanos < 1e9
}

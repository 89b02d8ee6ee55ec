import { type DescMessage, fromBinary, type Message } from '@bufbuild/protobuf'
import { createValidator, type Violation as RuleViolation } from '@bufbuild/protovalidate'
import { reflect, type ReflectMessage } from '@bufbuild/protobuf/reflect'
import { RosterError, type Violation } from '../errors.ts'
import { registry } from './methods.ts'
import { isStrictWire } from './wire.ts'

const patterns = new Map<string, RegExp>()

// The patterns are the contract's own, all linear, so the platform's RegExp may run them.
const validator = createValidator({
  registry,
  regexMatch(pattern, text) {
    let regexp = patterns.get(pattern)
    if (!regexp) patterns.set(pattern, (regexp = new RegExp(pattern, 'u')))
    return regexp.test(text)
  },
})

/** Reads a message strictly. INVALID_ARGUMENT REQUEST_MALFORMED for bytes that are no such message to the letter. */
export function parse(desc: DescMessage, bytes: Uint8Array): Message {
  if (!isStrictWire(desc, bytes)) throw malformed(desc)
  return orMalformed(desc, () => fromBinary(desc, bytes, { readUnknownFields: false }))
}

/** What was read of a message. INVALID_ARGUMENT REQUEST_MALFORMED where reading throws, such as at a time that no clock shows. */
export function orMalformed<T>(desc: DescMessage, read: () => T): T {
  try {
    return read()
  } catch (cause) {
    throw malformed(desc, cause)
  }
}

function malformed(desc: DescMessage, cause?: unknown): RosterError {
  return new RosterError('INVALID_ARGUMENT', 'REQUEST_MALFORMED', `The request is no valid ${desc.typeName}.`, {
    cause,
  })
}

/** All violations of the rules that the contract declares for the message. */
export function validate(desc: DescMessage, message: Message): Violation[] {
  const result = validator.validate(desc, message)
  if (result.kind === 'error') throw result.error
  const broken = result.kind === 'invalid' ? result.violations.map(toViolation) : []
  return [...broken, ...findNul(reflect(desc, message), '')]
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

// PostgreSQL's text and jsonb hold every character but this one.
function findNul(message: ReflectMessage, prefix: string): Violation[] {
  const found: Violation[] = []
  const check = (value: unknown, path: string) => {
    if (typeof value === 'string' && value.includes('\0'))
      found.push({ field: path, description: 'must not contain the character U+0000' })
  }
  for (const field of message.fields) {
    if (!message.isSet(field)) continue
    const path = prefix + field.jsonName
    if (field.fieldKind === 'scalar') check(message.get(field), path)
    else if (field.fieldKind === 'message') found.push(...findNul(message.get(field), `${path}.`))
    else if (field.fieldKind === 'list' && field.listKind === 'scalar') {
      let index = 0
      for (const item of message.get(field)) check(item, `${path}[${index++}]`)
    }
  }
  return found
}

import { create, type DescMessage, type Message, toBinary } from '@bufbuild/protobuf'
import { RosterError } from '#lib/errors'
import type { Match } from '../../call/routes.ts'
import type { Allowance } from '../../listen/admission.ts'
import { checkContentEncoding, readBody } from '../../listen/body.ts'
import type { Exchange } from '../../listen/exchange.ts'
import { countMany, fewValues, tooManyValues, type ValueLimit } from '../../rate-limits/value-limit.ts'
import { bindQuery, bindVariables } from './bind.ts'
import { bodyNotAllowed, malformed, unsupportedType } from './errors.ts'
import { readFields, spellPath } from './fields.ts'
import { type Json, parseText, TextFault } from './text.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Reads a call over the HTTP path of a method into its request message, in bytes. */
export async function readCall(
  exchange: Exchange,
  match: Match,
  allowance: Allowance,
  values: ValueLimit,
): Promise<Uint8Array> {
  const body = await readJsonBody(exchange, match.method.http!.hasBody, allowance)
  return toBinary(match.method.desc.input, readRequest(match, exchange.query, body, values))
}

// RFC 9110 allows a semicolon without a parameter.
const jsonType = /^application\/json *(; *(charset="?utf-8"? *)?)*$/i

async function readJsonBody(
  { request, header }: Exchange,
  hasBody: boolean,
  allowance: Allowance,
): Promise<Uint8Array | undefined> {
  const type = header('content-type')
  if (hasBody && type !== undefined && !jsonType.test(type)) throw unsupportedType()
  if (hasBody) checkContentEncoding(header)
  const body = await readBody(request, header('content-length'), allowance)
  if (body.length === 0) return undefined
  if (!hasBody) throw bodyNotAllowed()
  if (type === undefined) throw unsupportedType()
  return body
}

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
  bindVariables(desc, message, variables)
  if (query !== '') {
    const bound = method.http?.hasBody ? desc.fields : variables.map(({ field }) => field)
    bindQuery(desc, message, query, bound)
  }
  return message
}

function readBodyMessage(desc: DescMessage, body: Uint8Array | undefined, limit: ValueLimit): Message {
  const message = create(desc)
  if (body === undefined) return message
  const text = decode(body)
  if (/^[ \t\r\n]*$/.test(text)) return message
  countMany(countSeparators(body), limit)
  readFields(desc, message, parse(desc, text, limit.most))
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

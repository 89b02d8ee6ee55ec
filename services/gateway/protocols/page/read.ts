import { create, type DescField, toBinary } from '@bufbuild/protobuf'
import { From } from '#gen/roster/options/v1/options'
import type { Match } from '../../call/routes.ts'
import type { Allowance } from '../../listen/admission.ts'
import { readBody } from '../../listen/body.ts'
import type { Exchange } from '../../listen/exchange.ts'
import { splitPair, unescapePart } from '../json/bind.ts'
import { bodyNotAllowed, malformed } from '../json/errors.ts'
import { brandIn } from '../../pages/brands.ts'
import { readFormBody } from '../oauth/read.ts'
import { readCookie } from './cookie.ts'
import { fromOf } from './from.ts'

const mostBytes = 16 * 1024

/**
 * Reads the request of a page from its path, its query or form, and the cookie. An unknown parameter has no effect, but
 * counts as repeated where it comes twice; one without a value counts as not sent (RFC 6749 section 3.1). INVALID_ARGUMENT REQUEST_MALFORMED, BODY_NOT_ALLOWED;
 * errors of `readFormBody`. Notes whose brand the page is to have.
 */
export async function readPageRequest(
  exchange: Exchange,
  { method: { desc }, variables, template }: Match,
  allowance: Allowance,
  publicUrl: string,
  named: { organizationId: string },
): Promise<Uint8Array> {
  const { request } = exchange
  const { values, repeated } = parseParameters(await readParameters(exchange, allowance))
  named.organizationId = brandIn(values)
  const inPath = new Map(variables.map(({ field, text }) => [field, text]))
  const parameters = desc.input.fields.filter((field) => !inPath.has(field) && fromOf(field) === From.FROM_UNSPECIFIED)
  const message: Record<string, string | boolean | string[] | undefined> = {}
  for (const field of desc.input.fields) message[field.localName] = valueOf(field)
  return toBinary(desc.input, create(desc.input, message))

  function valueOf(field: DescField) {
    const text = inPath.get(field)
    if (text !== undefined) return unescapePart(text) ?? refuseCoding(field.name)
    const from = fromOf(field)
    if (from === From.FROM_COOKIE) return readCookie(request.headers.cookie, publicUrl)
    if (from === From.FROM_TRUST_COOKIE) return readCookie(request.headers.cookie, publicUrl, 'trust')
    if (from === From.FROM_REPEATED) return namesOf(repeated, parameters)
    if (from === From.FROM_POST) return request.method === 'POST'
    if (from === From.FROM_ROUTE) return template
    if (from === From.FROM_HEADERS) return withoutCookies(request.rawHeaders)
    return repeated.has(field.name) ? undefined : values.get(field.name)
  }
}

// As they came, so that one that came twice is seen.
function withoutCookies(raw: readonly string[]): string[] {
  const kept: string[] = []
  for (let at = 0; at < raw.length; at += 2) {
    const name = raw[at]!.toLowerCase()
    if (name !== 'cookie') kept.push(name, raw[at + 1]!)
  }
  return kept
}

// Of names that a stranger makes up the first one stands for all.
function namesOf(repeated: ReadonlySet<string>, parameters: DescField[]): string[] {
  const known = parameters.map(({ name }) => name)
  const unknown = [...repeated].find((name) => !known.includes(name))
  return [
    ...known.filter((name) => repeated.has(name)),
    ...(unknown === undefined ? [] : [unknown.replaceAll(/\p{C}/gu, '?').slice(0, 200).toWellFormed()]),
  ]
}

async function readParameters(exchange: Exchange, allowance: Allowance): Promise<string> {
  const { request, header, query } = exchange
  const limited = { ...allowance, bytes: Math.min(allowance.bytes, mostBytes) }
  if (request.method === 'POST') {
    if (query !== '') throw malformed([{ field: '', description: 'has parameters in its address' }])
    return readFormBody(exchange, limited)
  }
  if ((await readBody(request, header('content-length'), limited)).length > 0) throw bodyNotAllowed()
  return query
}

function parseParameters(text: string) {
  const [values, repeated] = [new Map<string, string>(), new Set<string>()]
  for (const pair of text.split('&').filter(Boolean)) {
    const [name, value] = splitPair(pair)
    if (name === undefined || value === undefined) return refuseCoding(name ?? '')
    if (values.has(name)) repeated.add(name)
    values.set(name, value)
  }
  return { values, repeated }
}

function refuseCoding(name: string): never {
  throw malformed([{ field: name.slice(0, 200), description: 'is not percent-encoded UTF-8' }])
}

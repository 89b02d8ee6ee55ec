import { create, type DescMessage, type Message } from '@bufbuild/protobuf'
import { reflect } from '@bufbuild/protobuf/reflect'
import { RosterError, type Violation } from '#lib/errors'
import type { Allowance } from '../../listen/admission.ts'
import { checkContentEncoding, readBody } from '../../listen/body.ts'
import type { Exchange } from '../../listen/exchange.ts'
import { splitPair } from '../json/bind.ts'
import { malformed, maxFaults, unsupportedType } from '../json/errors.ts'

const formType = /^application\/x-www-form-urlencoded *(; *(charset="?utf-8"? *)?)*$/i

/**
 * Reads the request message of an OAuth client from a form. The client's id and secret may be in `Authorization:
 * Basic`, and the proof is in `DPoP`. An unknown parameter is ignored, and a parameter without a value counts as not
 * sent (RFC 6749 section 3.2). INVALID_ARGUMENT REQUEST_MALFORMED for a parameter that comes twice, in the address or
 * in two ways; UNAUTHENTICATED INVALID_CLIENT.
 */
export async function readForm(desc: DescMessage, exchange: Exchange, allowance: Allowance): Promise<Message> {
  const { request, header, query } = exchange
  // Logs and histories keep addresses, and a secret must not get there.
  if (query !== '')
    throw malformed([{ field: '', description: 'has parameters in its address: they belong in the body' }])
  const message = create(desc)
  if (request.method !== 'POST') return message
  const parameters = parseForm(await readFormBody(exchange, allowance))
  const client = desc.field['clientSecret'] && readBasic(header('authorization'))
  if (client) addClient(parameters, client)
  const headers: Record<string, string | boolean | undefined> = {
    dpop_proof: header('dpop'),
    http_basic: client !== undefined,
  }
  for (const field of desc.fields) {
    const { name } = field
    const value = name in headers ? headers[name] : parameters.get(name)
    if (value) reflect(desc, message).set(field, value)
  }
  return message
}

/** Reads the body of a form, as text. Errors of `readBody`; INVALID_ARGUMENT CONTENT_TYPE_UNSUPPORTED. */
export async function readFormBody({ request, header }: Exchange, allowance: Allowance): Promise<string> {
  const type = header('content-type') ?? ''
  checkContentEncoding(header)
  const body = await readBody(request, header('content-length'), allowance)
  if (body.length > 0 && !formType.test(type)) throw unsupportedType('application/x-www-form-urlencoded')
  return body.toString('utf8')
}

function parseForm(text: string): Map<string, string> {
  const parameters = new Map<string, string>()
  const violations: Violation[] = []
  for (const pair of text.split('&').filter(Boolean)) {
    if (violations.length === maxFaults) break
    const [name, value] = splitPair(pair)
    if (name === undefined || value === undefined)
      violations.push({ field: name?.slice(0, 200) ?? '', description: 'is not percent-encoded UTF-8' })
    else if (parameters.has(name)) violations.push({ field: name.slice(0, 200), description: 'is given twice' })
    else parameters.set(name, value)
  }
  if (violations.length > 0) throw malformed(violations)
  return parameters
}

interface Client {
  id: string
  secret: string
}

// The client form-encodes both parts before it joins them (RFC 6749 section 2.3.1).
function readBasic(authorization: string | undefined): Client | undefined {
  const encoded = /^basic +(\S*) *$/i.exec(authorization ?? '')?.[1]
  if (encoded === undefined) return undefined
  const text = Buffer.from(encoded, 'base64').toString('latin1')
  const at = text.indexOf(':')
  const [id, secret] = [text.slice(0, Math.max(at, 0)), text.slice(at + 1)].map((part) => splitPair(`=${part}`)[1])
  if (at < 1 || id === undefined || !secret)
    throw new RosterError(
      'UNAUTHENTICATED',
      'INVALID_CLIENT',
      'The Authorization header must contain a client id and a secret.',
    )
  return { id, secret }
}

function addClient(parameters: Map<string, string>, { id, secret }: Client) {
  const description = 'comes in the Authorization header already'
  const twice = ['client_secret', 'client_assertion', 'client_assertion_type'].filter((name) => parameters.get(name))
  if ((parameters.get('client_id') || id) !== id) twice.unshift('client_id')
  if (twice.length > 0) throw malformed(twice.map((field) => ({ field, description })))
  parameters.set('client_id', id).set('client_secret', secret)
}

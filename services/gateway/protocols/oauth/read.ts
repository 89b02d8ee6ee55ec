import { create, type DescField, type Message } from '@bufbuild/protobuf'
import { RosterError, type Violation } from '#lib/errors'
import type { Method } from '#lib/rpc/methods'
import type { Allowance } from '../../listen/admission.ts'
import { checkContentEncoding, readBody } from '../../listen/body.ts'
import type { Exchange } from '../../listen/exchange.ts'
import type { Variable } from '../../call/routes.ts'
import { splitPair, unescapePart } from '../json/bind.ts'
import { malformed, maxFaults, unsupportedType } from '../json/errors.ts'

/** The content type of a form. */
export const formType = /^application\/x-www-form-urlencoded *(; *(charset="?utf-8"? *)?)*$/i

/**
 * Reads the parameters of an OAuth client from a form, once. A parameter without a value counts as not sent (RFC 6749
 * section 3.2). INVALID_ARGUMENT REQUEST_MALFORMED for a parameter that comes twice and is no list, or in the address;
 * errors of `readFormBody`.
 */
export function readForm(exchange: Exchange, { desc: { input } }: Method): (allowance: Allowance) => Promise<Form> {
  const lists = new Map(input.fields.filter(isList).map(({ name }) => [name, []]))
  let read: Promise<Form> | undefined
  return (allowance) => (read ??= readParameters(exchange, { parameters: new Map(), lists }, allowance))
}

/** The parameters of a form, and those that may come several times. */
export interface Form {
  parameters: Map<string, string>
  lists: Map<string, string[]>
}

function isList({ fieldKind }: DescField): boolean {
  return fieldKind === 'list'
}

async function readParameters(exchange: Exchange, form: Form, allowance: Allowance): Promise<Form> {
  // Logs and histories keep addresses, and a secret must not get there.
  if (exchange.query !== '')
    throw malformed([{ field: '', description: 'has parameters in its address: they belong in the body' }])
  if (exchange.request.method !== 'POST') return form
  return parseForm(await readFormBody(exchange, allowance), form)
}

/**
 * Makes the request message of these parameters. The client's id and secret may be in `Authorization: Basic`, and the
 * proof is in `DPoP`. An unknown parameter is ignored. INVALID_ARGUMENT CLIENT_AUTHENTICATED_TWICE, and
 * REQUEST_MALFORMED where a client id or a token comes in two ways; UNAUTHENTICATED INVALID_CLIENT.
 */
export function toRequest(
  { access, desc: { input } }: Method,
  form: Form,
  { header }: Exchange,
  inPath: Variable[] = [],
): Message {
  const parameters = new Map(form.parameters)
  const authorization = header('authorization')
  if (access.rule !== 'public' && authorization !== undefined && parameters.get('access_token'))
    throw malformed([{ field: 'access_token', description: inHeader }])
  const client = input.field['clientSecret'] && readBasic(authorization)
  if (client) addClient(parameters, client)
  const headers: Record<string, string | boolean | undefined> = {
    ...Object.fromEntries(inPath.map(({ field, text }) => [field.name, readPart(field.name, text)])),
    dpop_proof: header('dpop'),
    http_basic: client !== undefined,
  }
  const valueOf = (name: string) =>
    name in headers ? headers[name] : (form.lists.get(name) ?? (parameters.get(name) || undefined))
  return create(input, Object.fromEntries(input.fields.map(({ name, localName }) => [localName, valueOf(name)])))
}

function readPart(name: string, text: string): string {
  const part = unescapePart(text)
  if (part === undefined) throw malformed([{ field: name, description: 'is not percent-encoded UTF-8' }])
  return part
}

const inHeader = 'comes in the Authorization header already'

/** Reads the body of a form, as text. Errors of `readBody`; INVALID_ARGUMENT CONTENT_TYPE_UNSUPPORTED. */
export async function readFormBody({ request, header }: Exchange, allowance: Allowance): Promise<string> {
  const type = header('content-type') ?? ''
  checkContentEncoding(header)
  const body = await readBody(request, header('content-length'), allowance)
  if (body.length > 0 && !formType.test(type)) throw unsupportedType('application/x-www-form-urlencoded')
  return body.toString('utf8')
}

function parseForm(text: string, form: Form): Form {
  const { parameters, lists } = form
  const violations: Violation[] = []
  for (const pair of text.split('&').filter(Boolean)) {
    if (violations.length === maxFaults) break
    const [name, value] = splitPair(pair)
    if (name === undefined || value === undefined)
      violations.push({ field: name?.slice(0, 200) ?? '', description: 'is not percent-encoded UTF-8' })
    else if (lists.has(name)) lists.get(name)!.push(...(value === '' ? [] : [value]))
    else if (parameters.has(name)) violations.push({ field: name.slice(0, 200), description: 'is given twice' })
    else parameters.set(name, value)
  }
  if (violations.length > 0) throw malformed(violations)
  return form
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
  const [second] = ['client_secret', 'client_assertion', 'client_assertion_type'].filter((name) => parameters.get(name))
  if (second !== undefined)
    throw new RosterError(
      'INVALID_ARGUMENT',
      'CLIENT_AUTHENTICATED_TWICE',
      `A client proves who it is in one way: by the Authorization header or by ${second}.`,
    )
  if ((parameters.get('client_id') || id) !== id)
    throw malformed([{ field: 'client_id', description: 'is another one than in the Authorization header' }])
  parameters.set('client_id', id).set('client_secret', secret)
}

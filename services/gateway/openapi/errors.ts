import { registry } from '#lib/registry'
import type { Method } from '#lib/rpc/methods'
import { commentOf } from './comments.ts'
import { type headers, referHeaders } from './headers.ts'
import type { Schema, Schemas } from './schemas.ts'

const statuses: Record<string, [description: string, ...names: (keyof typeof headers)[]]> = {
  '400': ['The request is not valid, or the state of the object does not allow it.'],
  '401': ['There is no token, or the token is not valid.', 'WWW-Authenticate'],
  '403': ['The caller may not do this, or knows no such object.'],
  '404': ['There is no such object.'],
  '409': ['The object is there already, or another caller changes it now.'],
  '412': ['The object does not have a sequence that `If-Match` names, or has one that `If-None-Match` names.'],
  '422': ['The `Idempotency-Key` belongs to another request.'],
  '429': ['A limit is reached.', 'Retry-After'],
  default: ['Any other error.', 'Retry-After'],
}

/** The answers to requests that fail, of those that operations refer to. OAuth 2.0 has a form of its own for them. */
export function errorResponses(operations: readonly Schema[]): Record<string, Schema> {
  const all = [...responsesWith('Error', 'Status'), ...responsesWith('OAuthError', 'OAuthError')]
  const used = new Set(operations.flatMap(({ responses }) => Object.values(responses as Schema).map(targetOf)))
  return Object.fromEntries(all.filter(([name]) => used.has(root + name)))
}

const root = '#/components/responses/'
const capital = (status: string) => status.replace(/^d/, 'D')
const targetOf = (response: unknown) => (response as { $ref?: string }).$ref

function responsesWith(prefix: string, schema: string): [string, Schema][] {
  const content = { 'application/json': { schema: { $ref: `#/components/schemas/${schema}` } } }
  return Object.entries(statuses).map(([status, [description, ...names]]) => [
    `${prefix}${capital(status)}`,
    { description, headers: referHeaders('x-request-id', ...names), content },
  ])
}

/** The errors of a method, as references by their status. Its comment names those that not every method has. */
export function errorsOf(method: Method): Schema {
  const { access, reads, oauth, desc } = method
  const [isPublic, comment] = [access.rule === 'public', `${commentOf(desc)} ${commentOf(desc.parent)}`]
  const conditional = !reads && !oauth
  const has: Record<string, boolean> = {
    '401': !isPublic || /INVALID_CLIENT|CREDENTIALS_INVALID/.test(comment),
    '403': !isPublic || comment.includes('PERMISSION_DENIED'),
    '404': comment.includes('NOT_FOUND'),
    '409': conditional || comment.includes('ALREADY_EXISTS'),
    '412': conditional,
    '422': conditional,
  }
  const prefix = oauth ? 'OAuthError' : 'Error'
  return Object.fromEntries(
    Object.keys(statuses)
      .filter((status) => has[status] ?? true)
      .map((status) => [status, { $ref: `${root}${prefix}${capital(status)}` }]),
  )
}

/** The bodies of errors. */
export function errorSchemas(schemas: Schemas): Record<string, Schema> {
  return { Status: status, ErrorDetail: errorDetail(schemas), OAuthError: oauthError }
}

const status: Schema = {
  description: 'An error in all encodings: `google.rpc.Status` in canonical JSON.',
  type: 'object',
  required: ['code', 'message', 'details'],
  properties: {
    code: { type: 'integer', minimum: 1, maximum: 16, description: 'The code of gRPC.' },
    message: { type: 'string', description: 'What is wrong, in English.' },
    details: { type: 'array', items: { $ref: '#/components/schemas/ErrorDetail' } },
  },
}

// The message has `Any` for its details. Those that Roster gives share one schema: generators read alternatives badly.
function errorDetail(schemas: Schemas): Schema {
  const kinds = ['google.rpc.ErrorInfo', 'google.rpc.BadRequest', 'google.rpc.RetryInfo'].map((name) =>
    registry.getMessage(name)!,
  )
  const types = kinds.map(({ typeName }) => `\`type.googleapis.com/${typeName}\``)
  const ofKinds = kinds.flatMap(({ name, fields }) =>
    fields.map((field) => {
      const { description = '', ...schema } = schemas.field(field, 'answer')
      return [field.jsonName, { ...schema, description: `Of \`${name}\`. ${String(description)}`.trim() }] as const
    }),
  )
  return {
    description: [
      'One detail of an error, of the kind that `@type` names.',
      ...kinds.map((kind) => `- \`${kind.name}\`: ${commentOf(kind)}`),
    ].join('\n'),
    type: 'object',
    required: ['@type'],
    properties: { '@type': { type: 'string', description: types.join(', ') }, ...Object.fromEntries(ofKinds) },
  }
}

const oauthError: Schema = {
  description: 'An error of RFC 6749 section 5.2.',
  type: 'object',
  required: ['error', 'error_description'],
  properties: { error: { type: 'string' }, error_description: { type: 'string' } },
}

import type { Schema } from './schemas.ts'

/** Headers of requests, by the names that operations refer to them with. */
export const parameters = {
  organization: parameter(
    'x-service-orgid',
    { type: 'string' },
    'The id of the acting organization. Default: the own organization of the caller.',
  ),
  idempotencyKey: parameter(
    'Idempotency-Key',
    { type: 'string', pattern: String.raw`^[\x21-\x7e]{1,255}$` },
    'Chosen by the client. However often the request comes with the same key within 24 hours, it has one effect.',
  ),
  ifMatch: parameter(
    'If-Match',
    { type: 'string', pattern: String.raw`^\s*(\*|"\d{1,15}")\s*$` },
    'The `ETag` of an earlier answer, or `*`. Where the object has changed since, the answer is 412.',
  ),
  dpop: parameter(
    'DPoP',
    { type: 'string', maxLength: 8000 },
    'A proof for this very request, which binds the token to the key of the proof (RFC 9449).',
  ),
}

/** Headers of answers, by the names that responses refer to them with. */
export const headers = {
  requestId: header({ type: 'string' }, 'The id of the request in the logs. A client may choose it.'),
  etag: header({ type: 'string' }, 'The sequence of the object, for `If-Match`.'),
  replayed: header({ const: 'true' }, 'The answer is that of an earlier request with this `Idempotency-Key`.'),
  deprecation: header({ type: 'string' }, 'Since when the operation is deprecated (RFC 9745).'),
  retryAfter: header({ type: 'integer' }, 'Seconds after which a retry makes sense.'),
  challenge: header({ type: 'string' }, 'The ways to authenticate, and the fault of the token.'),
}

const spelled: Record<keyof typeof headers, string> = {
  requestId: 'x-request-id',
  etag: 'ETag',
  replayed: 'Idempotent-Replayed',
  deprecation: 'Deprecation',
  retryAfter: 'Retry-After',
  challenge: 'WWW-Authenticate',
}

/** The headers of an answer, as references. */
export function referHeaders(...names: (keyof typeof headers)[]): Schema {
  return Object.fromEntries(names.map((name) => [spelled[name], { $ref: `#/components/headers/${name}` }]))
}

/** Parameters of an operation, as references. */
export function referParameters(...names: (keyof typeof parameters)[]): Schema[] {
  return names.map((name) => ({ $ref: `#/components/parameters/${name}` }))
}

function parameter(name: string, schema: Schema, description: string): Schema {
  return { name, in: 'header', description, schema }
}

function header(schema: Schema, description: string): Schema {
  return { description, schema }
}

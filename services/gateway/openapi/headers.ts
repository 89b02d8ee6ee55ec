import type { Schema } from './schemas.ts'

const tag = String.raw`(W/)?"[\x21\x23-\x7e\x80-\xff]*"`
const tags = { type: 'string', pattern: String.raw`^(\*|[ \t,]*${tag}([ \t]*,[ \t]*(${tag})?)*[ \t]*)$` }

/** Headers of requests, as parameters. */
export const parameters = {
  'x-service-orgid': parameter(
    'x-service-orgid',
    { type: 'string' },
    'The id of the acting organization. Default: the own organization of the caller.',
  ),
  'Idempotency-Key': parameter(
    'Idempotency-Key',
    { type: 'string', pattern: String.raw`^[\x21-\x7e]{1,255}$` },
    'Chosen by the client. However often the request comes with the same key within 24 hours, it has one effect.',
  ),
  'If-Match': parameter(
    'If-Match',
    tags,
    'The `ETag` of an earlier answer, at most 20 of them, or `*`. Where the object has none of them now, the answer is 412.',
  ),
  'If-None-Match': parameter(
    'If-None-Match',
    tags,
    'At most 20 ETags, or `*`. Where the object has one of them, the answer is 412. What adds an object passes it over.',
  ),
  DPoP: parameter(
    'DPoP',
    { type: 'string', maxLength: 8000 },
    'A proof for this very request, which binds the token to the key of the proof (RFC 9449).',
  ),
}

/** Headers of answers. */
export const headers = {
  'x-request-id': header({ type: 'string' }, 'The id of the request in the logs. A client may choose it.'),
  ETag: header({ type: 'string' }, 'The sequence of the object, for `If-Match` and `If-None-Match`.'),
  'Idempotent-Replayed': header(
    { const: 'true' },
    'The answer is that of an earlier request with this `Idempotency-Key`.',
  ),
  Deprecation: header({ type: 'string' }, 'Since when the operation is deprecated (RFC 9745).'),
  'Retry-After': header({ type: 'integer' }, 'Seconds after which a retry makes sense.'),
  'WWW-Authenticate': header({ type: 'string' }, 'The ways to authenticate, and the fault of the token.'),
}

/** The headers of an answer, as references. */
export function referHeaders(...names: (keyof typeof headers)[]): Schema {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
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

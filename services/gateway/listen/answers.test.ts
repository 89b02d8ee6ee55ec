import { expect, test } from 'vitest'
import { codes, type CodeName, RosterError } from '#lib/errors'
import { errorHeaders } from './answers.ts'
import { httpStatus } from './http-status.ts'

const contract: Record<CodeName, number> = {
  INVALID_ARGUMENT: 400,
  FAILED_PRECONDITION: 400,
  OUT_OF_RANGE: 400,
  UNAUTHENTICATED: 401,
  PERMISSION_DENIED: 403,
  NOT_FOUND: 404,
  ALREADY_EXISTS: 409,
  ABORTED: 409,
  RESOURCE_EXHAUSTED: 429,
  CANCELLED: 499,
  INTERNAL: 500,
  UNKNOWN: 500,
  DATA_LOSS: 500,
  UNIMPLEMENTED: 501,
  UNAVAILABLE: 503,
  DEADLINE_EXCEEDED: 504,
}

test.each(Object.keys(codes) as CodeName[])('%s has the HTTP status of the contract', (name) =>
  expect(httpStatus(new RosterError(name, 'ANY', ''))).toBe(contract[name]),
)

test.each([
  ['NOT_FOUND', 'PATH_NOT_FOUND', 404],
  ['UNIMPLEMENTED', 'METHOD_NOT_ALLOWED', 405],
  ['FAILED_PRECONDITION', 'SEQUENCE_MISMATCH', 412],
  ['RESOURCE_EXHAUSTED', 'REQUEST_TOO_LARGE', 413],
  ['INVALID_ARGUMENT', 'CONTENT_TYPE_UNSUPPORTED', 415],
  ['INVALID_ARGUMENT', 'CONTENT_ENCODING_UNSUPPORTED', 415],
  ['INVALID_ARGUMENT', 'IDEMPOTENCY_KEY_REUSED', 422],
] as const)('%s %s has HTTP status %d', (name, reason, status) =>
  expect(httpStatus(new RosterError(name, reason, ''))).toBe(status),
)

test('Retry-After is whole seconds, never less than RetryInfo', () => {
  const after = (retryAfter: number) => errorHeaders(new RosterError('UNAVAILABLE', 'ANY', '', { retryAfter }))
  expect([1, 1.2, 0.001].map((seconds) => after(seconds)['retry-after'])).toEqual(['1', '2', '1'])
  expect(errorHeaders(new RosterError('NOT_FOUND', 'ANY', ''))).toEqual({})
})

test.each([
  ['TOKEN_MISSING', 'Bearer realm="roster", DPoP realm="roster", algs="ES256 EdDSA Ed25519 RS256"'],
  [
    'TOKEN_INVALID',
    'Bearer realm="roster", error="invalid_token", DPoP realm="roster", algs="ES256 EdDSA Ed25519 RS256"',
  ],
  [
    'TOKEN_FOR_PROJECT',
    'Bearer realm="roster", error="invalid_token", DPoP realm="roster", algs="ES256 EdDSA Ed25519 RS256"',
  ],
  ['DPOP_PROOF_INVALID', 'DPoP realm="roster", error="invalid_dpop_proof", algs="ES256 EdDSA Ed25519 RS256"'],
])('the challenge of %s names the error of a token, and both schemes', (reason, challenge) =>
  expect(errorHeaders(new RosterError('UNAUTHENTICATED', reason, ''))['www-authenticate']).toBe(challenge),
)

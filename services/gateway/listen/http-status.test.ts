import { expect, test } from 'vitest'
import { codes, type CodeName, RosterError } from '#lib/errors'
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

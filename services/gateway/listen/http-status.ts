import type { Code, RosterError } from '#lib/errors'

/** The HTTP status of a code where its reason has none of its own. */
export const statusOfCode: Record<Code, number> = {
  1: 499,
  2: 500,
  3: 400,
  4: 504,
  5: 404,
  6: 409,
  7: 403,
  8: 429,
  9: 400,
  10: 409,
  11: 400,
  12: 501,
  13: 500,
  14: 503,
  15: 500,
  16: 401,
}

const statusOfReason = new Map([
  ['METHOD_NOT_ALLOWED', 405],
  ['REQUEST_TIMEOUT', 408],
  ['SEQUENCE_MISMATCH', 412],
  ['REQUEST_TOO_LARGE', 413],
  ['CONTENT_TYPE_UNSUPPORTED', 415],
  ['CONTENT_ENCODING_UNSUPPORTED', 415],
  ['HOST_OTHER', 421],
  ['IDEMPOTENCY_KEY_REUSED', 422],
  ['HEADERS_TOO_LARGE', 431],
])

export function httpStatus({ code, reason }: RosterError): number {
  return statusOfReason.get(reason) ?? statusOfCode[code]
}

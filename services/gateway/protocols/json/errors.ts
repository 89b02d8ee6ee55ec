import { RosterError, type Violation } from '#lib/errors'
import { statusToJson } from '#lib/status'
import { type Exchange, protective, send } from '../../listen/exchange.ts'
import { httpStatus } from '../../listen/http-status.ts'
import { errorHeaders } from '../error-headers.ts'

/** Answers with the error: its Status in JSON, and its parts that HTTP has a header for. */
export function sendError(exchange: Exchange, error: RosterError, own: Record<string, string> = {}): void {
  send(
    exchange,
    httpStatus(error),
    { ...protective, 'content-type': 'application/json', ...errorHeaders(error), ...own },
    JSON.stringify(statusToJson(error)),
  )
}

/** The most faults of a request that an error lists. */
export const maxFaults = 100

/** INVALID_ARGUMENT REQUEST_MALFORMED for these fields. */
export function malformed(violations: Violation[]): RosterError {
  const sentences = violations.map(({ field, description }) =>
    field === '' ? `it ${description}` : `${field} ${description}`,
  )
  const message = `The request cannot be read: ${sentences.join('; ')}.`
  return new RosterError('INVALID_ARGUMENT', 'REQUEST_MALFORMED', message, { violations })
}

/** The error of a request whose path does not read its content type. */
export function unsupportedType(wanted = 'application/json'): RosterError {
  return new RosterError('INVALID_ARGUMENT', 'CONTENT_TYPE_UNSUPPORTED', `The content type must be ${wanted}.`)
}

/** The error of a request by GET or DELETE with a body. */
export function bodyNotAllowed(): RosterError {
  return new RosterError('INVALID_ARGUMENT', 'BODY_NOT_ALLOWED', 'This request must not have a body.')
}

import type { RosterError } from '#lib/errors'
import { encodeStatus } from '#lib/status'
import { errorHeaders } from '../error-headers.ts'
import { encodeMessage } from '../grpc/errors.ts'

/** The trailers of an error, with its `google.rpc.Status`. They are part of the body, so they may be long. */
export function errorTrailers(error: RosterError): Record<string, string> {
  return {
    'grpc-status': String(error.code),
    'grpc-message': encodeMessage(error.message),
    'grpc-status-details-bin': Buffer.from(encodeStatus(error)).toString('base64').replace(/=+$/, ''),
    ...errorHeaders(error),
  }
}

import type { RosterError } from '#lib/errors'
import { encodeStatus } from '#lib/status'
import { errorHeaders } from '../http/answers.ts'
import { encodeMessage } from './grpc-web.ts'

/** The trailers of an error, the `google.rpc.Status` among them. */
export function toGrpcTrailers(error: RosterError): Record<string, string> {
  const { message, details } = fit(error)
  return {
    'grpc-status': String(error.code),
    'grpc-message': encodeMessage(message),
    'grpc-status-details-bin': details.toString('base64').replace(/=+$/, ''),
    ...errorHeaders(error),
  }
}

// Clients take 8 KiB of metadata, or refuse the whole answer: of very many violations, the first ones have to do.
function fit(error: RosterError): { message: string; details: Buffer } {
  const { code, reason, retryAfter } = error
  let { message, metadata, violations } = error
  message = message.slice(0, 2_000).toWellFormed()
  if (encodeMessage(message).length > 2_000) message = `${message.slice(0, 600).toWellFormed()} …`
  violations = violations.slice(0, mostViolations)
  for (;;) {
    const details = Buffer.from(encodeStatus({ code, reason, retryAfter, message, metadata, violations }))
    if (details.length <= 4_000) return { message, details }
    if (violations.length > 0) violations = violations.slice(0, violations.length >> 1)
    else if (Object.keys(metadata).length > 0) metadata = {}
    else message = message.slice(0, message.length >> 1).toWellFormed()
  }
}

const mostViolations = 100

import { RosterError } from '#lib/errors'
import { encodeStatus } from '#lib/status'
import { isForeign } from '../../../../compat/zitadel/translation/compatible-methods.ts'
import { whyRefused } from '../../../../compat/zitadel/translation/refused-methods.ts'
import { errorHeaders } from '../error-headers.ts'

/** The trailers of an error, with its `google.rpc.Status`. */
export function toGrpcTrailers(error: RosterError): Record<string, string> {
  const { message, details } = fit(error)
  return {
    'grpc-status': String(error.code),
    'grpc-message': encodeMessage(message),
    'grpc-status-details-bin': details.toString('base64').replace(/=+$/, ''),
    ...errorHeaders(error),
  }
}

// Many clients refuse an answer with more than 8 KiB of metadata. So of very many violations, only the first ones go.
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

/**
 * Percent-encodes the characters that `grpc-message` cannot hold: all but visible ASCII and blanks, and the percent
 * sign.
 */
export function encodeMessage(message: string): string {
  return message.toWellFormed().replace(/[^\x20-\x24\x26-\x7e]+/g, (part) => percentEncode(part))
}

function percentEncode(part: string): string {
  return [...Buffer.from(part)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('')
}

/** UNIMPLEMENTED METHOD_UNKNOWN: the gRPC path leads nowhere. */
export function unknownMethod(path: string): RosterError {
  const isNamed = isForeign(path) && /^\/[\w.]{1,100}\/\w{1,100}$/.test(path)
  const why = whyRefused(path)
  const named = `Roster has no equal of ${path.slice(1)}${why === undefined ? '' : `: ${why}`}.`
  const text = isNamed ? named : 'There is no such method.'
  return new RosterError('UNIMPLEMENTED', 'METHOD_UNKNOWN', text)
}

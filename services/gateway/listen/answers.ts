import { proofAlgorithms } from '#lib/dpop'
import type { RosterError } from '#lib/errors'
import { statusToJson } from '#lib/status'
import { answerEarly } from './early-answer.ts'
import { httpStatus } from './http-status.ts'
import type { Exchange } from './exchange.ts'

/** Headers that let a browser read an answer, and do nothing else with it. */
export const protective = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
}

/** Answers with a whole body. */
export function send(
  { request, response, hold, headers }: Exchange,
  status: number,
  own: object,
  body: string | Uint8Array,
) {
  answerEarly(request, response, () => {
    if (response.headersSent || response.destroyed) return
    const length = Buffer.byteLength(body)
    hold?.add(length)
    response.writeHead(status, { ...headers, ...own, 'content-length': length })
    response.end(request.method === 'HEAD' ? undefined : body)
  })
}

/** Sends the head of a stream at once. Its messages may be long in coming. */
export function sendHead({ response, headers }: Exchange, own: object) {
  if (response.headersSent || response.destroyed) return
  response.writeHead(200, { ...headers, ...own })
  response.flushHeaders()
}

/** Answers with JSON text. */
export function sendJson(exchange: Exchange, status: number, text: string) {
  send(exchange, status, { ...protective, 'content-type': 'application/json' }, text)
}

/** Answers with the error: its Status in JSON, and its parts that HTTP has a header for. */
export function sendError(exchange: Exchange, error: RosterError, own: Record<string, string> = {}) {
  send(
    exchange,
    httpStatus(error),
    { ...protective, 'content-type': 'application/json', ...errorHeaders(error), ...own },
    JSON.stringify(statusToJson(error)),
  )
}

/** The headers, or gRPC metadata, that belong to an error. */
export function errorHeaders({ code, reason, retryAfter, replayed }: RosterError): Record<string, string> {
  const headers: Record<string, string> = {}
  if (retryAfter !== undefined) headers['retry-after'] = String(Math.ceil(retryAfter))
  if (replayed) headers['idempotent-replayed'] = 'true'
  // RFC 9110 section 15.5.16.
  if (reason === 'CONTENT_ENCODING_UNSUPPORTED') headers['accept-encoding'] = 'identity'
  if (code === 16) headers['www-authenticate'] = challengeOf(reason)
  return headers
}

// RFC 6750 section 3 and RFC 9449 section 7.1: a challenge tells the fault, and names both schemes.
function challengeOf(reason: string): string {
  const [error, algorithms] = [tokenErrors.get(reason), `algs="${proofAlgorithms.join(' ')}"`]
  if (error === 'invalid_dpop_proof') return `DPoP realm="roster", error="${error}", ${algorithms}`
  return `Bearer realm="roster"${error ? `, error="${error}"` : ''}, DPoP realm="roster", ${algorithms}`
}

const tokenErrors = new Map([
  ['TOKEN_INVALID', 'invalid_token'],
  ['TOKEN_FOR_PROJECT', 'invalid_token'],
  ['DPOP_PROOF_INVALID', 'invalid_dpop_proof'],
])

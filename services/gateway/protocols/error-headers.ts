import { proofAlgorithms } from '#lib/credentials/dpop'
import type { RosterError } from '#lib/errors'

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

// RFC 6750 section 3 and RFC 9449 section 7.1: a challenge names the fault and both schemes.
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

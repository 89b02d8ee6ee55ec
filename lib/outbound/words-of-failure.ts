/** The words where no answer came in time. */
export const timeout = 'timeout'

// An unknown name and a name that leads to a private network get the same words, so that the names inside stay secret.
const noAddress = 'no address that may be sent to'
const names: Record<string, string> = {
  NOT_ALLOWED: noAddress,
  ENOTFOUND: noAddress,
  EAI_AGAIN: noAddress,
  ENODATA: noAddress,
  ESERVFAIL: noAddress,
  EREFUSED: noAddress,
  ETIMEOUT: timeout,
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection lost',
  EPIPE: 'connection lost',
  ETIMEDOUT: timeout,
  ENETUNREACH: 'not reachable',
  EHOSTUNREACH: 'not reachable',
  BODY_TOO_LARGE: 'the answer is too large',
}

/** Why a request of `guardedFetch` failed, in words that reveal nothing of the network. */
export function wordsOfFailure(error: unknown): string {
  const { code, name } = error as { code?: unknown; name?: string }
  if (name === 'TimeoutError') return timeout
  const known = names[String(code)]
  if (known) return known
  if (/^(CERT_|ERR_TLS_|ERR_SSL_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|EPROTO)/.test(String(code))) return 'TLS failed'
  return String(code).startsWith('HPE_') ? 'no HTTP answer' : 'failed'
}

import type { LookupAddress } from 'node:dns'
import { type ClientRequest, type IncomingMessage, request as http } from 'node:http'
import { request as https } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import { type Destinations, hostOf } from '#lib/outbound/destinations'
import { resolve as resolveName } from '#lib/outbound/resolve'

/** The error if no answer came in time. */
export const timeout = 'timeout'
/** Bytes of an answer's body that are skipped before the connection is cut. */
const mostBody = 64 * 1024
const bodyWithin = 1000

/** The outcome of one try. */
export interface Outcome {
  /** The answer's status. Undefined: no answer came. */
  status: number | undefined
  /** Why the try failed, in words that reveal nothing of the network. Undefined: the receiver took the event. */
  error: string | undefined
  /** Milliseconds for which the receiver asks to be left alone. */
  retryAfter?: number | undefined
}

/**
 * Posts a body. Follows no redirect and does not look at the answer's body. Rejects only if `signal` is aborted: then
 * it is unknown whether the body arrived. The answer's head has `within` milliseconds. Waits one second more for the
 * answer's end.
 */
export async function post(
  url: string,
  headers: Record<string, string>,
  body: string,
  destinations: Destinations,
  signal: AbortSignal,
  within: number,
): Promise<Outcome> {
  try {
    const answer = await exchange(
      url,
      headers,
      body,
      destinations,
      AbortSignal.any([signal, AbortSignal.timeout(within)]),
    )
    const status = answer.statusCode!
    const isTaken = status >= 200 && status < 300
    const retryAfter = status === 429 || status === 503 ? readRetryAfter(answer.headers['retry-after']) : undefined
    return { status, error: isTaken ? undefined : `status ${status}`, retryAfter }
  } catch (error) {
    signal.throwIfAborted()
    return { status: undefined, error: nameOf(error) }
  }
}

async function exchange(
  url: string,
  headers: Record<string, string>,
  body: string,
  destinations: Destinations,
  over: AbortSignal,
): Promise<IncomingMessage> {
  const { protocol, hostname } = new URL(url)
  const tls = protocol === 'https:'
  // A name is checked when it is resolved, for each connection: so it cannot lead elsewhere after the check.
  if (isIP(hostOf(hostname)) !== 0 && !destinations.allows(hostOf(hostname), tls)) throw new NotAllowed()
  return new Promise((resolve, reject) => {
    const options = {
      method: 'POST',
      headers: { ...headers, 'content-length': Buffer.byteLength(body) },
      // A new connection: its address is the one that was checked.
      agent: false,
      lookup: guarded(destinations, tls, over),
      signal: over,
    } as const
    const sent = (tls ? https : http)(url, options, (answer) => {
      passOver(sent, answer, () => resolve(answer))
    })
    sent.on('error', (error) => reject(over.aborted ? over.reason : error))
    sent.end(body)
  })
}

function guarded(destinations: Destinations, tls: boolean, over: AbortSignal): LookupFunction {
  return (hostname, options, callback) => {
    const answer = (addresses: LookupAddress[]) => {
      // One forbidden address is enough: which address is used cannot be controlled.
      if (addresses.some(({ address }) => !destinations.allows(address, tls))) callback(new NotAllowed(), '')
      else if (options.all) callback(null, addresses)
      else callback(null, addresses[0]!.address, addresses[0]!.family)
    }
    resolveName(hostname, over).then(answer, (error: Error) => callback(error, ''))
  }
}

class NotAllowed extends Error {
  readonly code = 'NOT_ALLOWED'
}

// Calls `then` only once the connection is closed: an open connection takes up a place.
function passOver(sent: ClientRequest, answer: IncomingMessage, then: () => void) {
  let bytes = 0
  const timer = setTimeout(() => sent.destroy(), bodyWithin)
  answer.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > mostBody) sent.destroy()
  })
  answer.on('error', () => {})
  answer.on('close', () => {
    clearTimeout(timer)
    then()
  })
}

// An unknown name and a name that leads to a private network get the same error, so that the names inside stay secret.
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
}

function nameOf(error: unknown): string {
  const { code, name } = error as { code?: unknown; name?: string }
  if (name === 'TimeoutError') return timeout
  const known = names[String(code)]
  if (known) return known
  if (/^(CERT_|ERR_TLS_|ERR_SSL_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|EPROTO)/.test(String(code))) return 'TLS failed'
  return String(code).startsWith('HPE_') ? 'no HTTP answer' : 'failed'
}

function readRetryAfter(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const wait = /^\d{1,9}$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now()
  return wait > 0 ? wait : undefined
}

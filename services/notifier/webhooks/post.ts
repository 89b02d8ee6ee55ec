import type { LookupAddress } from 'node:dns'
import { type ClientRequest, type IncomingMessage, request as http } from 'node:http'
import { request as https } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import { type Destinations, hostOf } from './destination.ts'
import { resolve as resolveName } from './resolve.ts'

/** The error where nobody answered in time. */
export const timeout = 'timeout'
/** What of an answer's body is passed over before the connection is cut. */
const mostBody = 64 * 1024
const bodyWithin = 1000

/** What became of one try. */
export interface Outcome {
  /** Of the answer; undefined where none came. */
  status: number | undefined
  /** Why it failed, in words that tell nothing of the network; undefined: it was taken. */
  error: string | undefined
  /** Milliseconds that the receiver asks to be left alone. */
  retryAfter?: number | undefined
}

/**
 * Posts a body. No redirect is followed, and nothing of the answer's body is looked at. Never rejects, except where `signal` is
 * aborted: then nobody knows whether it arrived. The answer has `within` milliseconds; its end, which is waited for, one second more.
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
  // A name is looked at when it is resolved: for each connection, so that it cannot lead elsewhere afterwards.
  if (isIP(hostOf(hostname)) !== 0 && !destinations.allows(hostOf(hostname), tls)) throw new NotAllowed()
  return new Promise((resolve, reject) => {
    const options = {
      method: 'POST',
      headers: { ...headers, 'content-length': Buffer.byteLength(body) },
      // A connection of its own, which is the one that was looked at.
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
      // One that is not allowed is enough: which of them is connected to is for nobody to choose.
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

// A connection that is still open takes a place.
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

// A name that there is not and one that leads to a private network sound the same: nobody is to learn the names inside.
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

import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { codes, RosterError, toRosterError } from '#lib/errors'
import type { Log } from '#lib/log'
import type { Nats } from '#lib/nats'
import { type Answered, callBytes } from '#lib/rpc/call'
import type { Call } from '#lib/rpc/headers'
import type { Method } from '#lib/rpc/methods'
import type { Authenticator } from './authenticate.ts'
import { readConditions } from './conditions.ts'
import type { GatewayConfig } from './config.ts'

/** What every part of a running gateway stands on. */
export interface Gateway {
  config: GatewayConfig
  nats: Nats
  log: Log
  authenticator: Authenticator
}

export type Encoding = 'json' | 'oauth' | 'grpc' | 'grpc-web'

/** A call as it arrived, whatever its encoding. */
export interface Arrival {
  method: Method
  encoding: Encoding
  requestId: string
  /** As it came, the path without query. */
  verb: string
  path: string
  /** The value of a header or of metadata, by its lower-case name. */
  header(name: string): string | undefined
  /** Milliseconds that the client gives the call; undefined: it does not say. Throws RosterError when it cannot be read. */
  timeout(): number | undefined
  /** The other end of the connection. */
  peerAddress: string
  /** Aborted once the client went away. */
  signal: AbortSignal
}

/**
 * One call from the first check to the line in the log: authenticates, reads the request's bytes, asks the service, writes the
 * answer. Gives what `write` made, or the error; never throws.
 */
export async function perform<Answer>(
  gateway: Gateway,
  arrival: Arrival,
  read: () => Uint8Array | Promise<Uint8Array>,
  write: (answer: Uint8Array, headers: Record<string, string>) => Answer,
): Promise<Answer | RosterError> {
  const started = performance.now()
  const { method, requestId, signal } = arrival
  let user = ''
  try {
    const deadline = Date.now() + limitTimeout(gateway.config, arrival.timeout())
    const identity = await gateway.authenticator.authenticate(method.access, {
      authorization: arrival.header('authorization'),
      proof: arrival.header('dpop'),
      verb: arrival.verb,
      path: arrival.path,
      organization: arrival.header('x-service-orgid'),
      requestId,
      deadline,
      signal,
    })
    user = identity.caller.userId
    const call = {
      ...identity,
      requestId,
      deadline,
      clientAddress: clientAddress(arrival, gateway.config.TRUSTED_PROXIES),
      traceparent: readTraceparent(arrival.header('traceparent')),
      ...readConditions(arrival),
    }
    const { bytes, sequence, replayed } = await ask(gateway, method, await read(), call, signal)
    const answer = write(bytes, {
      ...(sequence !== undefined && { etag: `"${sequence}"` }),
      ...(replayed && { 'idempotent-replayed': 'true' }),
    })
    logCall(gateway.log, arrival, user, started)
    return answer
  } catch (thrown) {
    const error = toRosterError(thrown)
    logCall(gateway.log, arrival, user, started, error)
    return error
  }
}

const retryAfter = 250

// Where nobody answered, a keyed request may have been done or not: asked once more, it has one effect all the same.
async function ask(
  gateway: Gateway,
  { subject }: Method,
  bytes: Uint8Array,
  call: Call,
  signal: AbortSignal,
): Promise<Answered> {
  try {
    return await callBytes(gateway.nats, subject, bytes, call, signal)
  } catch (error) {
    const inDoubt = error instanceof RosterError && error.code === codes.UNAVAILABLE
    if (!inDoubt || call.idempotencyKey === undefined || call.deadline < Date.now() + 2 * retryAfter) throw error
    await sleep(retryAfter)
    return callBytes(gateway.nats, subject, bytes, call, signal)
  }
}

/** The caller's own request id when it is 1 to 128 visible ASCII characters, else a new one. */
export function requestIdOf(sent: string | undefined): string {
  return sent !== undefined && /^[\x21-\x7e]{1,128}$/.test(sent) ? sent : randomUUID()
}

function limitTimeout(config: GatewayConfig, asked: number | undefined): number {
  return Math.min(Math.floor(asked ?? config.CALL_TIMEOUT_MS), config.MAX_CALL_TIMEOUT_MS)
}

// With n proxies in front, the n-th entry from the right is what the outermost of them saw; those before it anybody can write.
function clientAddress({ header, peerAddress }: Arrival, proxies: number): string {
  const forwarded = proxies === 0 ? undefined : header('x-forwarded-for')
  if (forwarded === undefined) return plainAddress(peerAddress)
  const seen = forwarded.split(',').map((address) => address.trim())
  return plainAddress(seen.at(-Math.min(proxies, seen.length))!.slice(0, 64))
}

function plainAddress(address: string): string {
  return address.startsWith('::ffff:') ? address.slice(7) : address
}

function readTraceparent(text: string | undefined): string {
  return text !== undefined && /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/.test(text) ? text : ''
}

function logCall(log: Log, arrival: Arrival, user: string, started: number, error?: RosterError) {
  const { method, encoding, requestId } = arrival
  const line = {
    method: method.subject,
    encoding,
    code: error?.code ?? 0,
    ...(error && { reason: error.reason }),
    ms: Math.round((performance.now() - started) * 100) / 100,
    requestId,
    user,
  }
  log.info(line, 'call')
  if (error?.code === codes.INTERNAL && error.cause !== undefined)
    log.error({ err: error.cause, method: method.subject, requestId }, 'failed')
}

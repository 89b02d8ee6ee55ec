import { randomUUID } from 'node:crypto'
import { codes, RosterError, toRosterError } from '#lib/errors'
import type { Log } from '#lib/log'
import type { AskingNats } from '#lib/rpc/call'
import type { Method } from '#lib/rpc/methods'
import type { Authenticator } from '../callers/authenticate.ts'
import type { ClientAddresses } from '../arrival/client-addresses.ts'
import { callOf, credentialsOf } from './arrival-facts.ts'
import { ask, revokedWithin } from './ask.ts'
import { readConditions } from '../arrival/conditions.ts'
import type { GatewayConfig } from '../config.ts'
import type { Rates } from '../limits/rates.ts'
import type { StreamPlaces } from '../limits/stream-places.ts'
import type { UnderWay } from '../limits/under-way.ts'

/** What every part of a running gateway stands on. */
export interface Gateway {
  config: GatewayConfig
  nats: AskingNats
  log: Log
  authenticator: Authenticator
  clientAddresses: ClientAddresses
  rates: Rates
  streamPlaces: StreamPlaces
  underWay: UnderWay
  /** Aborted once the gateway stops. */
  stopping: AbortSignal
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
  /** The value of a header or of metadata, by its lower-case name. INVALID_ARGUMENT HEADER_REPEATED where it came twice. */
  header(name: string): string | undefined
  /** The first thing of all: throws RosterError where the request is not to be let in. */
  admit(): void
  /** Milliseconds that the client gives the call; undefined: it does not say. Throws RosterError when it cannot be read. */
  timeout(): number | undefined
  /** Where it came from, as that is counted: see `ClientAddresses`. */
  clientAddress: string
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
  const { method, signal } = arrival
  let user = ''
  try {
    arrival.admit()
    const deadline = Date.now() + limitTimeout(gateway.config, arrival.timeout())
    const facts = callOf(arrival)
    const credentials = credentialsOf(arrival, deadline, signal)
    const identify = () => gateway.authenticator.authenticate(method.access, credentials)
    let identity = await gateway.authenticator.authenticate(method.access, credentials, (caller) => {
      user = caller.userId
      gateway.rates.admit(caller, method, facts.clientAddress)
    })
    const call = { ...facts, deadline, ...readConditions(arrival) }
    const arrived = performance.now()
    const request = await read()
    // Whoever sends slowly may have lost the right to it meanwhile.
    if (performance.now() - arrived >= revokedWithin) identity = await identify()
    const { bytes, sequence, replayed } = await ask(gateway, method, request, call, identity, identify, signal)
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

/** The caller's own request id when it is 1 to 128 visible ASCII characters, else a new one. */
export function requestIdOf(sent: string | undefined): string {
  return sent !== undefined && /^[\x21-\x7e]{1,128}$/.test(sent) ? sent : randomUUID()
}

function limitTimeout(config: GatewayConfig, asked: number | undefined): number {
  return Math.min(Math.floor(asked ?? config.CALL_TIMEOUT_MS), config.MAX_CALL_TIMEOUT_MS)
}

const known = new WeakMap<Log, Log>()

// All that a call's line holds is known here and no secret; to look for one costs a tenth of a gateway's work.
function unredacted(log: Log): Log {
  let plain = known.get(log)
  if (!plain) known.set(log, (plain = log.child({}, { redact: [] })))
  return plain
}

/** The one line that the log has of a call. */
export function logCall(log: Log, arrival: Arrival, user: string, started: number, error?: RosterError, own?: object) {
  const { method, encoding, requestId } = arrival
  const line = {
    method: method.subject,
    encoding,
    code: error?.code ?? 0,
    ...(error && { reason: error.reason }),
    ms: Math.round((performance.now() - started) * 100) / 100,
    requestId,
    user,
    ...own,
  }
  unredacted(log).info(line, 'call')
  if (error?.code === codes.INTERNAL && error.cause !== undefined)
    log.error({ err: error.cause, method: method.subject, requestId }, 'failed')
}

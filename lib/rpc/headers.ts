import type { MsgHdrs } from 'nats'
import type { Once } from './idempotency.ts'
import { natsHeaders } from '../nats/connect-nats.ts'
import { anonymous, type Caller, type RolesThere } from './caller.ts'
import type { SignCaller } from './signatures/sign-callers.ts'
import type { ReadCaller } from './signatures/verify-callers.ts'

/** The parts of a request beside its message. */
export interface Call {
  caller: Caller
  /** The acting organization, from x-service-orgid. Default: the caller's own. */
  organizationId: string
  requestId: string
  /** Unix time in milliseconds. After it, the caller no longer waits for the answer. */
  deadline: number
  /** The client's address, for throttling; empty between services. */
  clientAddress: string
  /** The client's header User-Agent, as printable ASCII and cut; missing where it sent none, and between services. */
  userAgent?: string | undefined
  /** W3C trace context of the caller. Empty where nothing traces the call. */
  traceparent: string
  /** The id of the event that made a service act by itself, such as `users-17`. Only between services. */
  cause?: string | undefined
  /** Idempotency-Key: the request has one effect, however often it comes. */
  idempotencyKey?: string
  /** If-Match: the object must have one of these sequences. "*" means any sequence, but the object must exist. */
  ifMatch?: number[] | '*'
  /** If-None-Match: the object must have none of these sequences. "*" means that it must not exist. */
  ifNoneMatch?: number[] | '*'
  /** Set only within a service: `serve` makes it from the key. */
  once?: Once
  /** Set only within a service: gives the caller's roles in an organization. */
  rolesIn?: (organizationId: string) => Promise<RolesThere>
}

/**
 * The call as NATS headers for a service. Only the caller is signed. Its roles decide its permissions; the acting
 * organization does not. No other header gives the sender of a request anything that it could not have otherwise.
 */
export function writeHeaders(call: Call, service: string, sign: SignCaller | undefined): MsgHdrs {
  const { caller, ifMatch, ifNoneMatch } = call
  if (caller !== anonymous && !sign) throw new Error('only the gateway says who calls')
  return natsHeaders({
    'roster-caller': caller === anonymous ? undefined : sign!(caller, service),
    'roster-organization': call.organizationId || undefined,
    'roster-request-id': call.requestId,
    'roster-deadline': String(call.deadline),
    'roster-client': call.clientAddress || undefined,
    'roster-user-agent': call.userAgent || undefined,
    traceparent: call.traceparent || undefined,
    'roster-cause': call.cause || undefined,
    'idempotency-key': call.idempotencyKey,
    'if-match': ifMatch?.toString(),
    'if-none-match': ifNoneMatch?.toString(),
  })
}

/** The id of the request. Works even if other headers are wrong. */
export function requestIdOf(headers: MsgHdrs | undefined): string {
  return headers?.get('roster-request-id') ?? ''
}

/** The trace that the request belongs to: a W3C `traceparent`, or empty. */
export function traceparentOf(headers: MsgHdrs | undefined): string {
  return new Map(headers).get('traceparent')?.[0] ?? ''
}

/** The call that `writeHeaders` wrote. Throws like `readCaller`. */
export function readHeaders(headers: MsgHdrs | undefined, readCaller: ReadCaller): Call {
  // The client's own `get` is slow: it lists all names each time.
  const all = new Map(headers)
  const get = (name: string) => all.get(name)?.[0] ?? ''
  return {
    caller: readCaller(get('roster-caller')),
    organizationId: get('roster-organization'),
    requestId: get('roster-request-id'),
    deadline: Number(get('roster-deadline')) || Date.now() + 10_000,
    clientAddress: get('roster-client'),
    traceparent: get('traceparent'),
    ...(get('roster-user-agent') && { userAgent: get('roster-user-agent') }),
    ...(get('roster-cause') && { cause: get('roster-cause') }),
    ...(get('idempotency-key') && { idempotencyKey: get('idempotency-key') }),
    ...(get('if-match') && { ifMatch: sequencesOf(get('if-match')) }),
    ...(get('if-none-match') && { ifNoneMatch: sequencesOf(get('if-none-match')) }),
  }
}

function sequencesOf(text: string): number[] | '*' {
  return text === '*' ? '*' : text.split(',').map(Number)
}

import type { MsgHdrs } from 'nats'
import type { Once } from '../eventstore/once.ts'
import { natsHeaders } from '../nats.ts'
import { anonymous, type Caller } from './caller.ts'
import type { SignCaller } from './sign-callers.ts'
import type { ReadCaller } from './verify-callers.ts'

/** What a request carries beside its message. */
export interface Call {
  caller: Caller
  /** The acting organization: that of x-service-orgid, else the caller's own. */
  organizationId: string
  requestId: string
  /** Unix time in milliseconds after which nobody waits for the answer. */
  deadline: number
  /** Where the request came from, for throttling; empty between services. */
  clientAddress: string
  /** W3C trace context, as it came in. */
  traceparent: string
  /** The id of the event because of which a service acts by itself, such as `users-17`; between services only. */
  cause?: string | undefined
  /** Idempotency-Key: the request is to have one effect, however often it comes. */
  idempotencyKey?: string
  /** If-Match: the sequence that the object must have; "*": any, but it must be there. */
  ifMatch?: number | '*'
  /** Within a service: what `serve` made of the key. */
  once?: Once
}

/**
 * The call as NATS headers for a service. Only the caller is signed: what he may do follows from his roles, whatever organization is
 * acting, and all else that is written here decides nothing that the sender of a request could not have otherwise.
 */
export function writeHeaders(call: Call, service: string, sign: SignCaller | undefined): MsgHdrs {
  const { caller, ifMatch } = call
  if (caller !== anonymous && !sign) throw new Error('only the gateway says who calls')
  return natsHeaders({
    'roster-caller': caller === anonymous ? undefined : sign!(caller, service),
    'roster-organization': call.organizationId || undefined,
    'roster-request-id': call.requestId,
    'roster-deadline': String(call.deadline),
    'roster-client': call.clientAddress || undefined,
    traceparent: call.traceparent || undefined,
    'roster-cause': call.cause || undefined,
    'idempotency-key': call.idempotencyKey,
    'if-match': ifMatch?.toString(),
  })
}

/** The id of the request, whatever else is wrong with the headers. */
export function requestIdOf(headers: MsgHdrs | undefined): string {
  return headers?.get('roster-request-id') ?? ''
}

/** The call that `writeHeaders` wrote. Throws as `readCaller` does. */
export function readHeaders(headers: MsgHdrs | undefined, readCaller: ReadCaller): Call {
  // The client's own `get` makes a list of all names each time.
  const all = new Map(headers)
  const get = (name: string) => all.get(name)?.[0] ?? ''
  return {
    caller: readCaller(get('roster-caller')),
    organizationId: get('roster-organization'),
    requestId: get('roster-request-id'),
    deadline: Number(get('roster-deadline')) || Date.now() + 10_000,
    clientAddress: get('roster-client'),
    traceparent: get('traceparent'),
    ...(get('roster-cause') && { cause: get('roster-cause') }),
    ...(get('idempotency-key') && { idempotencyKey: get('idempotency-key') }),
    ...(get('if-match') && { ifMatch: get('if-match') === '*' ? '*' : Number(get('if-match')) }),
  }
}

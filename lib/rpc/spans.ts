import type { MsgHdrs } from 'nats'
import { codes, type RosterError } from '../errors.ts'
import { below } from '../telemetry/in-span.ts'
import type { More, NewSpan, Span } from '../telemetry/tracing.ts'
import { traceparentOf } from './headers.ts'

const known = { client: new Map<string, NewSpan>(), server: new Map<string, NewSpan>() }

/** The span of a call over NATS, as its caller or its service sees it. */
export function spanOfCall(kind: 'client' | 'server', subject: string): NewSpan {
  let span = known[kind].get(subject)
  if (!span) {
    const name = nameOf(subject)
    span = { name, kind, attributes: { 'rpc.system.name': 'nats', 'rpc.method': name } }
    known[kind].set(subject, span)
  }
  return span
}

/**
 * Does the work of a request in the trace of its caller. Only the gateway begins traces: what its caller does not trace,
 * no service does.
 */
export function traceRequest(
  headers: MsgHdrs | undefined,
  subject: string,
  work: (span?: Span) => Promise<void>,
): Promise<void> {
  return below(spanOfCall('server', subject), traceparentOf(headers), work)
}

/** The name of a method in traces: `roster.users.v1.UserService/SetEmail`. */
export function nameOf(subject: string): string {
  return subject.replace(/\.(\w+)$/, '/$1')
}

/** What a span says of the service's answer. Only a fault of the service makes it a failed one. */
export function describeAnswer(error: RosterError | undefined): Required<Pick<More, 'attributes' | 'failure'>> {
  return {
    attributes: { 'rpc.status_code': error ? names.get(error.code)! : 'OK' },
    failure: error && faults.has(error.code) ? error.reason : undefined,
  }
}

const names = new Map<number, string>(Object.entries(codes).map(([name, code]) => [code, name]))
const { UNKNOWN, DEADLINE_EXCEEDED, UNIMPLEMENTED, INTERNAL, UNAVAILABLE, DATA_LOSS } = codes
const faults = new Set<number>([UNKNOWN, DEADLINE_EXCEEDED, UNIMPLEMENTED, INTERNAL, UNAVAILABLE, DATA_LOSS])

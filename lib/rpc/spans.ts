import { codes, type RosterError } from '../errors.ts'
import { telemetry } from '../telemetry/telemetry.ts'
import type { NewSpan, Span } from '../telemetry/tracing.ts'

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

/** The name of a method in traces: `roster.users.v1.UserService/SetEmail`. */
export function nameOf(subject: string): string {
  return subject.replace(/\.(\w+)$/, '/$1')
}

/** Notes how the service answered. Only a fault of the service makes its span a failed one. */
export function noteAnswer(span: Span, error: RosterError | undefined): void {
  span.setAttribute('rpc.status_code', error ? names.get(error.code)! : 'OK')
  if (error && faults.has(error.code)) telemetry.tracing?.fail(span, error.reason)
}

const names = new Map<number, string>(Object.entries(codes).map(([name, code]) => [code, name]))
const { UNKNOWN, DEADLINE_EXCEEDED, UNIMPLEMENTED, INTERNAL, UNAVAILABLE, DATA_LOSS } = codes
const faults = new Set<number>([UNKNOWN, DEADLINE_EXCEEDED, UNIMPLEMENTED, INTERNAL, UNAVAILABLE, DATA_LOSS])

import { RosterError } from '#lib/errors'
import { nameOf, describeAnswer } from '#lib/rpc/spans'
import { type More, type NewSpan, type Span, annotate, type Tracing } from '#lib/telemetry/tracing'
import { httpStatus } from '../listen/http-status.ts'
import type { Arrival } from './arrived-call.ts'
import type { Gateway } from './gateway.ts'
import { findRoutes } from './routes.ts'

/**
 * Performs a call in a span, which begins a trace. A caller whose `traceparent` is trusted has it go on with its
 * own trace. That of any other caller is only linked: it must neither choose the trace nor have it sampled.
 */
export function traceCall<Answer>(
  tracing: Tracing,
  { config }: Gateway,
  arrival: Arrival,
  work: () => Promise<Answer | RosterError>,
): Promise<Answer | RosterError> {
  const isTrusted = config.TRUST_TRACEPARENT === 'true'
  const { method, encoding, verb, path } = arrival
  // Most calls are not sampled. They need no step of their own.
  return tracing.enter(spanOf(method.subject), isTrusted ? arrival.header('traceparent') : undefined, (span) =>
    span ? tracedWork(span) : work(),
  )

  async function tracedWork(span: Span) {
    if (!isTrusted) tracing.link(span, arrival.header('traceparent') ?? '')
    const answer = await work()
    const error = answer instanceof RosterError ? answer : undefined
    annotate(span, describe({ method, encoding, verb, path }, error))
    return answer
  }
}

const known = new Map<string, NewSpan>()

// What else there is to say is said only where the span is recorded.
function spanOf(subject: string): NewSpan {
  let span = known.get(subject)
  if (!span) known.set(subject, (span = { name: nameOf(subject), kind: 'server' }))
  return span
}

const systems = { grpc: 'grpc', 'grpc-web': 'grpc', connect: 'connectrpc' } as const

// The path itself holds ids, and a query may hold anything. The template of the route is enough.
function describe(
  { method, encoding, verb, path }: Pick<Arrival, 'method' | 'encoding' | 'verb' | 'path'>,
  error: RosterError | undefined,
): More {
  const encoded = { 'roster.encoding': encoding }
  if (encoding === 'grpc' || encoding === 'grpc-web' || encoding === 'connect') {
    const { attributes, failure } = describeAnswer(error)
    const rpc = { 'rpc.system.name': systems[encoding], 'rpc.method': nameOf(method.subject) }
    return { attributes: { ...encoded, ...rpc, ...attributes }, failure }
  }
  const status = error ? httpStatus(error) : 200
  const route = findRoutes(path).get(verb === 'HEAD' ? 'GET' : verb)?.template ?? ''
  const http = { 'http.request.method': verb, 'http.route': route, 'http.response.status_code': status }
  return {
    name: `${verb} ${route}`,
    attributes: { ...encoded, ...http },
    failure: status >= 500 ? error?.reason : undefined,
  }
}

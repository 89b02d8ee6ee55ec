import { RosterError } from '#lib/errors'
import { nameOf, noteAnswer } from '#lib/rpc/spans'
import { telemetry } from '#lib/telemetry/telemetry'
import type { NewSpan, Span } from '#lib/telemetry/tracing'
import { httpStatus } from '../http-status.ts'
import type { Arrival } from './arrived-call.ts'
import type { Gateway } from './gateway.ts'
import { findRoutes } from './routes.ts'

/**
 * Takes a call its way in a span, which begins a trace. A caller whose `traceparent` is trusted has it go on with its
 * own trace. That of any other caller is only linked: it must neither choose the trace nor have it sampled.
 */
export function traceCall<Answer>(
  { config }: Gateway,
  arrival: Arrival,
  work: () => Promise<Answer | RosterError>,
): Promise<Answer | RosterError> {
  const { tracing } = telemetry
  if (!tracing) return work()
  const foreign = readTraceparent(arrival.header('traceparent'))
  const from = config.TRUST_TRACEPARENT === 'true' ? { parent: foreign } : { linked: foreign }
  // Most calls are not sampled. They need no step of their own.
  return tracing.enter(spanOf(arrival.method.subject), from, (span) => (span ? describing(span) : work()))

  async function describing(span: Span) {
    const answer = await work()
    describe(span, arrival, answer instanceof RosterError ? answer : undefined)
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

/** The W3C `traceparent` of a caller. Empty where it has none, or no valid one. */
export function readTraceparent(text: string | undefined): string {
  return text !== undefined && /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/.test(text) ? text : ''
}

const systems = { grpc: 'grpc', 'grpc-web': 'grpc', connect: 'connectrpc' } as const

// The path itself holds ids, and a query may hold anything. The template of the route tells enough.
function describe(span: Span, { encoding, method, verb, path }: Arrival, error: RosterError | undefined) {
  span.setAttribute('roster.encoding', encoding)
  if (encoding !== 'json' && encoding !== 'oauth') {
    span.setAttributes({ 'rpc.system.name': systems[encoding], 'rpc.method': nameOf(method.subject) })
    return noteAnswer(span, error)
  }
  const status = error ? httpStatus(error) : 200
  const route = findRoutes(path).get(verb === 'HEAD' ? 'GET' : verb)?.template ?? ''
  span.updateName(`${verb} ${route}`)
  span.setAttributes({
    'http.request.method': verb,
    'http.route': route,
    'http.response.status_code': status,
  })
  if (error && status >= 500) span.fail(error.reason)
}

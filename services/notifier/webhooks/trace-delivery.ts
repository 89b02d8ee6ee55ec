import { telemetry } from '#lib/telemetry/telemetry'
import { annotate } from '#lib/telemetry/tracing'
import type { Taken } from './chain.ts'
import type { Outcome } from './post.ts'

/**
 * Posts a delivery in a span of the trace of its event, where that is traced. `post` gets the headers that show it to
 * the receiver. The span names the receiver's host and port, and neither path nor query: they may hold a secret.
 */
export function traceDelivery(
  { url, payload, attempts }: Taken,
  post: (headers: Record<string, string>) => Promise<Outcome>,
): Promise<Outcome> {
  const { tracing } = telemetry
  const parent = tracing && traceparentIn(payload)
  if (!parent) return post({})
  const { hostname, port, protocol } = new URL(url)
  const attributes = {
    'http.request.method': 'POST',
    'server.address': hostname,
    'server.port': Number(port) || (protocol === 'https:' ? 443 : 80),
    ...(attempts > 0 && { 'http.request.resend_count': attempts }),
  }
  return tracing.enter({ name: 'POST', kind: 'client', attributes }, parent, async (span) => {
    const outcome = await post({ traceparent: tracing.place()! })
    if (span)
      annotate(span, {
        attributes: outcome.status === undefined ? {} : { 'http.response.status_code': outcome.status },
        failure: outcome.error && String(outcome.status ?? outcome.error),
      })
    return outcome
  })
}

// The payload is what is signed, so the event's own place in a trace lies there.
function traceparentIn(payload: string): string | undefined {
  if (!payload.includes('"traceparent":"00-')) return undefined
  const { traceparent } = JSON.parse(payload) as { traceparent?: unknown }
  return typeof traceparent === 'string' ? traceparent : undefined
}

import { AsyncLocalStorage } from 'node:async_hooks'
import {
  type Context,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  type SpanOptions,
  trace,
  type Tracer,
} from '@opentelemetry/api'
import { parseTraceParent } from '@opentelemetry/core'
import { type NewSpan, annotate, type Tracing } from './tracing.ts'

const kinds = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
  internal: SpanKind.INTERNAL,
}

/** Makes traces by this tracer. `begins` says whether its sampler is asked about a new trace. Nothing is global. */
export function createTracing(tracer: Tracer, begins: () => boolean): Tracing {
  const active = new AsyncLocalStorage<Span | undefined>()

  // Undefined where the span is not sampled.
  function start({ name, kind = 'internal', attributes = {} }: NewSpan, above: Context, more?: SpanOptions) {
    const span = tracer.startSpan(name, { kind: kinds[kind], attributes, ...more }, above)
    return span.isRecording() ? span : undefined
  }

  async function run<T>(span: Span, work: (span: Span) => Promise<T>): Promise<T> {
    try {
      return await active.run(span, work, span)
    } catch (error) {
      annotate(span, { failure: typeOf(error) })
      throw error
    } finally {
      // What the SDK says of its collector belongs to no span.
      active.exit(() => span.end())
    }
  }

  return {
    enter(span, parent, work) {
      const above = contextOf(parent)
      const started = above || begins() ? start(span, above ?? ROOT_CONTEXT) : undefined
      return started ? run(started, work) : work(undefined)
    },

    isActive: () => active.getStore() !== undefined,

    inSpan(span, work) {
      const above = active.getStore()
      const started = above && start(span, trace.setSpan(ROOT_CONTEXT, above))
      return started ? run(started, work) : work(undefined)
    },

    place() {
      const ids = active.getStore()?.spanContext()
      return ids && `00-${ids.traceId}-${ids.spanId}-01`
    },

    together(span, [first, ...others], work) {
      const above = contextOf(first)
      const started = above && start(span, above)
      if (!started) return active.getStore() ? active.run(undefined, work) : work()
      for (const other of others) link(started, other)
      return run(started, work)
    },

    link,

    add(span, place, began, ended) {
      const above = contextOf(place)
      if (above) start(span, above, { startTime: began })?.end(ended)
    },

    ids() {
      const ids = active.getStore()?.spanContext()
      return ids && { trace_id: ids.traceId, span_id: ids.spanId }
    },
  }
}

function contextOf(traceparent = ''): Context | undefined {
  const place = parseTraceParent(traceparent)
  return place ? trace.setSpanContext(ROOT_CONTEXT, { ...place, isRemote: true }) : undefined
}

function link(span: Span, traceparent: string): void {
  const context = parseTraceParent(traceparent)
  if (context) span.addLink({ context: { ...context, isRemote: true } })
}

// The message of an error, and its stack, may hold what belongs in no trace.
function typeOf(error: unknown): string {
  const { reason, code, name } = (error ?? {}) as { reason?: unknown; code?: unknown; name?: unknown }
  return (
    ([reason, code, name].find((text) => typeof text === 'string' && /^\w{1,60}$/.test(text)) as string) ?? '_OTHER'
  )
}

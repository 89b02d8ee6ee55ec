import {
  type Context,
  type ContextManager,
  type Link,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  isSpanContextValid,
  trace,
  type Tracer,
} from '@opentelemetry/api'
import type { Draw } from './draw.ts'
import type { NewSpan, Tracing } from './tracing.ts'

const kinds = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
  internal: SpanKind.INTERNAL,
}

/**
 * Makes traces with a tracer, which takes its ids from the draw. `contexts` keeps the active span. Nothing is global.
 */
export function createTracing(
  tracer: Tracer,
  contexts: Pick<ContextManager, 'active' | 'with'>,
  { isSampled }: Pick<Draw, 'isSampled'>,
): Tracing {
  function begin({ name, kind = 'internal', attributes = {} }: NewSpan, below: Context, links: Link[] = []): Span {
    return tracer.startSpan(name, { kind: kinds[kind], attributes, links }, below)
  }

  async function run<T>(span: Span, below: Context, work: (span: Span) => Promise<T>): Promise<T> {
    try {
      return await contexts.with(trace.setSpan(below, span), work, undefined, span)
    } catch (error) {
      fail(span, typeOf(error))
      throw error
    } finally {
      span.end()
    }
  }

  const isActive = () => trace.getSpan(contexts.active()) !== undefined

  return {
    enter(span, { parent, linked }, work) {
      const below = contextOf(parent)
      if (!below && !isSampled()) return work(undefined)
      const begun = begin(span, below ?? ROOT_CONTEXT, linksTo(linked))
      return begun.isRecording() ? run(begun, below ?? ROOT_CONTEXT, work) : work(undefined)
    },
    isActive,
    inSpan(span, work) {
      const below = contexts.active()
      return trace.getSpan(below) ? run(begin(span, below), below, work) : work(undefined)
    },
    place() {
      const active = trace.getSpanContext(contexts.active())
      return active && write(active)
    },
    together(span, places, work) {
      const [first, ...others] = places
      const below = contextOf(first)
      if (below) return run(begin(span, below, linksTo(...others)), below, work)
      return isActive() ? contexts.with(ROOT_CONTEXT, work) : work()
    },
    add({ name, kind = 'internal', attributes = {} }, place, startTime, ended) {
      const below = contextOf(place)
      if (below) tracer.startSpan(name, { kind: kinds[kind], attributes, startTime }, below).end(ended)
    },
    fail,
    ids() {
      const active = trace.getSpanContext(contexts.active())
      return active && { trace_id: active.traceId, span_id: active.spanId }
    },
  }
}

function fail(span: Span, type: string) {
  span.setStatus({ code: SpanStatusCode.ERROR }).setAttribute('error.type', type)
}

// The message of an error, and its stack, may hold what belongs in no trace.
function typeOf(error: unknown): string {
  const { reason, code, name } = (error ?? {}) as { reason?: unknown; code?: unknown; name?: unknown }
  return (
    ([reason, code, name].find((text) => typeof text === 'string' && /^\w{1,60}$/.test(text)) as string) ?? '_OTHER'
  )
}

// The context of a span that is elsewhere.
function contextOf(traceparent: string | undefined): Context | undefined {
  const found = read(traceparent)
  return found && trace.setSpanContext(ROOT_CONTEXT, found)
}

function linksTo(...traceparents: (string | undefined)[]): Link[] {
  return traceparents.flatMap((text) => {
    const found = read(text)
    return found ? [{ context: found }] : []
  })
}

const form = /^(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/

function read(traceparent: string | undefined): SpanContext | undefined {
  if (!traceparent) return undefined
  const [, traceId, spanId, flags] = form.exec(traceparent) ?? []
  if (traceId === undefined || spanId === undefined) return undefined
  const found = { traceId, spanId, traceFlags: Number.parseInt(flags!, 16) & 1, isRemote: true }
  return isSpanContextValid(found) ? found : undefined
}

function write({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-0${traceFlags & 1}`
}

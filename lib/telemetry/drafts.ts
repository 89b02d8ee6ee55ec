import { AsyncLocalStorage } from 'node:async_hooks'
import {
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Tracer,
} from '@opentelemetry/api'
import type { IdGenerator } from '@opentelemetry/sdk-trace'
import { hex, randomWord } from './draw.ts'
import { inRows } from './in-rows.ts'
import { isSampled, isTraceparent, spanIdOf, traceIdOf } from './traceparent.ts'
import type { More, NewSpan, Span } from './tracing.ts'

/** What work notes of a span while it goes on: as little as can be, since this code is cold. */
export class Draft implements Span {
  readonly spanId = nextSpanId()
  readonly begun: NewSpan
  readonly traceId: string
  /** The id of the span above; empty where a trace begins. */
  readonly above: string
  readonly isAboveRemote: boolean
  readonly links: string[] = []
  began = performance.now()
  ended = 0
  failure: string | undefined
  more: (() => More) | undefined

  constructor(begun: NewSpan, traceId: string, above = '', isAboveRemote = false) {
    this.begun = begun
    this.traceId = traceId
    this.above = above
    this.isAboveRemote = isAboveRemote
  }

  tell(more: () => More): void {
    this.more = more
  }

  link(...traceparents: string[]): void {
    this.links.push(...traceparents)
  }
}

/** Drafts that wait at the most. */
const most = 64
/** Milliseconds that a draft waits at the most. */
const patience = 1000

/** Keeps drafts of spans that have ended, until the SDK makes the spans. */
export interface Drafts {
  /** The SDK's provider must take its ids from here. */
  idGenerator: IdGenerator
  add(draft: Draft): void
  /** Has the SDK make all spans. */
  flush(): void
}

/**
 * Makes spans of many drafts at once. A processor that runs the SDK's code for one call of a hundred finds none of it in
 * its caches: a span then takes ten times as long as one of many in a row.
 */
export function createDrafts(tracer: () => Tracer): Drafts {
  let waiting: Draft[] = []
  let current: Draft | undefined
  let timer: NodeJS.Timeout | undefined

  // The work that adds the last draft may be in a span. A warning about the collector does not belong to that span.
  const flush = AsyncLocalStorage.bind(() => {
    clearTimeout(timer)
    timer = undefined
    const drafts = waiting
    waiting = []
    // The machine's clock may have been set since the process began.
    const offset = Date.now() - performance.now()
    for (current of drafts) make(tracer(), current, offset)
  })

  return {
    idGenerator: { generateTraceId: () => current!.traceId, generateSpanId: () => current!.spanId },
    add(draft) {
      waiting.push(draft)
      if (waiting.length >= most) flush()
      else timer ??= setTimeout(flush, patience).unref()
    },
    flush,
  }
}

const kinds = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
  internal: SpanKind.INTERNAL,
}

function make(tracer: Tracer, draft: Draft, offset: number): void {
  const { begun, traceId, above, isAboveRemote, links, began, ended } = draft
  const more = draft.more?.()
  const failure = draft.failure ?? more?.failure
  const parent = { traceId, spanId: above, traceFlags: TraceFlags.SAMPLED, isRemote: isAboveRemote }
  const options = {
    kind: kinds[begun.kind ?? 'internal'],
    attributes: { ...begun.attributes, ...more?.attributes, ...(failure && { 'error.type': failure }) },
    links: links.filter(isTraceparent).map((link) => ({ context: contextOf(link) })),
    startTime: began + offset,
  }
  const below = above ? trace.setSpanContext(ROOT_CONTEXT, parent) : ROOT_CONTEXT
  const span = tracer.startSpan(more?.name ?? begun.name, options, below)
  if (failure) span.setStatus({ code: SpanStatusCode.ERROR })
  span.end(ended + offset)
}

function contextOf(traceparent: string): SpanContext {
  const traceFlags = isSampled(traceparent) ? TraceFlags.SAMPLED : TraceFlags.NONE
  return { traceId: traceIdOf(traceparent), spanId: spanIdOf(traceparent), traceFlags, isRemote: true }
}

const nextSpanId = inRows(() => hex(randomWord()) + hex(randomWord()))

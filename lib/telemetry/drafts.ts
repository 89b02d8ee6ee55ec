import { AsyncLocalStorage } from 'node:async_hooks'
import {
  type Attributes,
  type Link,
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
import type { NewSpan, Span } from './tracing.ts'

const kinds = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
  internal: SpanKind.INTERNAL,
}

/** What work notes of a span while it goes on. */
export class Draft implements Span {
  readonly traceId: string
  readonly spanId: string
  readonly parent: SpanContext | undefined
  readonly links: Link[]
  readonly kind: SpanKind
  readonly attributes: Attributes
  /** Unix milliseconds, with fractions. */
  readonly began: number
  ended = 0
  name: string
  hasFailed = false

  constructor(
    { name, kind = 'internal', attributes }: NewSpan,
    parent: SpanContext | undefined,
    traceId: string,
    links: Link[],
    began: number,
  ) {
    this.traceId = traceId
    this.spanId = nextSpanId()
    this.parent = parent
    this.links = links
    this.kind = kinds[kind]
    this.attributes = { ...attributes }
    this.began = began
    this.name = name
  }

  setAttribute(name: string, value: string | number): void {
    this.attributes[name] = value
  }

  setAttributes(attributes: Attributes): void {
    Object.assign(this.attributes, attributes)
  }

  updateName(name: string): void {
    this.name = name
  }

  fail(type: string): void {
    this.hasFailed = true
    this.attributes['error.type'] = type
  }

  asParent(): SpanContext {
    return { traceId: this.traceId, spanId: this.spanId, traceFlags: TraceFlags.SAMPLED }
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
    for (current of drafts) {
      const { name, kind, attributes, links, began, ended, parent, hasFailed } = current
      const below = parent ? trace.setSpanContext(ROOT_CONTEXT, parent) : ROOT_CONTEXT
      const span = tracer().startSpan(name, { kind, attributes, links, startTime: began }, below)
      if (hasFailed) span.setStatus({ code: SpanStatusCode.ERROR })
      span.end(ended)
    }
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

// Made in a row, for the same reason.
const spanIds: string[] = []

function nextSpanId(): string {
  if (spanIds.length === 0) for (let n = 0; n < most; n++) spanIds.push(hex(randomWord()) + hex(randomWord()))
  return spanIds.pop()!
}

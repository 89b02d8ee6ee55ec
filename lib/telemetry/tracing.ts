import type { Attributes, Span, SpanStatusCode } from '@opentelemetry/api'

export type { Span }

/** What is known of a span at its end. */
export interface More {
  /** Instead of the first name: one of few texts, too. */
  name?: string
  attributes?: Attributes
  /** Marks the span as failed. One of few texts. */
  failure?: string | undefined
}

// The enum of the API cannot be had without loading the API.
const failed: SpanStatusCode.ERROR = 2

/** Adds what is known of a span at its end. */
export function annotate(span: Span, { name, attributes = {}, failure }: More): void {
  if (name) span.updateName(name)
  span.setAttributes(attributes)
  if (failure) span.setAttribute('error.type', failure).setStatus({ code: failed })
}

/** A span to begin. No name and no attribute holds an address, a token, a name or a code of a person. */
export interface NewSpan {
  /** One of few texts: of a path its template, of a statement what it does. */
  name: string
  /** Default: internal. */
  kind?: 'server' | 'client' | 'producer' | 'consumer' | 'internal'
  attributes?: Attributes
}

/**
 * What code does with traces. Work begins a trace by `enter`, and every other function works below the span that is
 * active where it is called. Where there is none, they only do the work. A span that is not sampled is never active:
 * what it leads to costs nothing, and hears nothing of it.
 */
export interface Tracing {
  /**
   * Does work in a span of its own: below the span that `parent` names, by a valid W3C `traceparent`, or else in a new
   * trace. The work gets no span where it is not sampled.
   */
  enter<T>(span: NewSpan, parent: string | undefined, work: (span: Span | undefined) => Promise<T>): Promise<T>
  /** Whether a span is active. */
  isActive(): boolean
  /** Does work in a span below the active one. */
  inSpan<T>(span: NewSpan, work: (span: Span | undefined) => Promise<T>): Promise<T>
  /** The W3C `traceparent` of the active span: for work that is done elsewhere, later, or together with that of others. */
  place(): string | undefined
  /**
   * Does work for several places at once, in a span below the first one, with links to the others. Without a place, the
   * work is done in no span, even where one is active.
   */
  together<T>(span: NewSpan, places: string[], work: () => Promise<T>): Promise<T>
  /** Links a span to one of another trace. A text that is no W3C `traceparent` links to none. */
  link(span: Span, traceparent: string): void
  /** Adds a span below a place for work that is over. Its times are of the clock of `performance`. */
  add(span: NewSpan, place: string, began: number, ended: number): void
  /** What a line of the log says of the active span. */
  ids(): { trace_id: string; span_id: string } | undefined
}

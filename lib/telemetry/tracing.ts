import type { Attributes } from '@opentelemetry/api'

/** A span whose work goes on. */
export interface Span {
  readonly traceId: string
  readonly spanId: string
  setAttribute(name: string, value: string | number): void
  setAttributes(attributes: Attributes): void
  /** The name is one of few texts. */
  updateName(name: string): void
  /** Marks the span as failed. `type` is one of few texts. */
  fail(type: string): void
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
   * trace. `linked` is a `traceparent` too, of a trace that has to do with this one. The work gets no span where it is
   * not sampled.
   */
  enter<T>(
    span: NewSpan,
    from: { parent?: string; linked?: string },
    work: (span: Span | undefined) => Promise<T>,
  ): Promise<T>
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
  /** Adds a span below a place for work that is over. Times are Unix milliseconds. */
  add(span: NewSpan, place: string, began: number, ended: number): void
  /** What a line of the log says of the active span. */
  ids(): { trace_id: string; span_id: string } | undefined
}

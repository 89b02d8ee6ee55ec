import type { Attributes, Span } from '@opentelemetry/api'

export type { Span } from '@opentelemetry/api'

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
 * active where it is called. Where that one is not recorded, or there is none, they only do the work.
 */
export interface Tracing {
  /**
   * Does work in a span of its own: below the span that `parent` names, by a valid W3C `traceparent`, or else in a new
   * trace. `linked` is a `traceparent` too, of a trace that has to do with this one. A parent that is not sampled
   * decides for the work, too.
   */
  enter<T>(span: NewSpan, from: { parent?: string; linked?: string }, work: (span: Span) => Promise<T>): Promise<T>
  /** Does work in a span below the active one. */
  inSpan<T>(span: NewSpan, work: (span: Span | undefined) => Promise<T>): Promise<T>
  /**
   * The W3C `traceparent` of the active span, where it is recorded: for work that is done later, or together with that
   * of others.
   */
  place(): string | undefined
  /**
   * Does work for several places at once, in a span below the first one, with links to the others. Without a place, the
   * work is done in no span, even where one is active.
   */
  together<T>(span: NewSpan, places: string[], work: () => Promise<T>): Promise<T>
  /** Adds a span below a place for work that is over. Times are Unix milliseconds. */
  add(span: NewSpan, place: string, began: number, ended: number): void
  /** Marks a span as failed. `type` is one of few texts. */
  fail(span: Span, type: string): void
  /** The W3C `traceparent` of the active span, recorded or not. Empty without one. */
  traceparent(): string
  /** What a line of the log says of the active span, where it is recorded. */
  ids(): { trace_id: string; span_id: string } | undefined
}

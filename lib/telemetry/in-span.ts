import { telemetry } from './telemetry.ts'
import type { NewSpan, Span } from './tracing.ts'

/** Does work in a span below the active one, where that one is recorded. */
export function inSpan<T>(span: NewSpan, work: () => Promise<T>): Promise<T> {
  return telemetry.tracing ? telemetry.tracing.inSpan(span, work) : work()
}

/** Does work in a span below a place, by its `traceparent`. Without a place, the work is in no trace. */
export function below<T>(span: NewSpan, place: string | undefined, work: (span?: Span) => Promise<T>): Promise<T> {
  return telemetry.tracing && place ? telemetry.tracing.enter(span, place, work) : work()
}

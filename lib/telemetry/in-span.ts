import { telemetry } from './telemetry.ts'
import type { NewSpan } from './tracing.ts'

/** Does work in a span below the active one, where that one is recorded. */
export function inSpan<T>(span: NewSpan, work: () => Promise<T>): Promise<T> {
  return telemetry.tracing ? telemetry.tracing.inSpan(span, work) : work()
}

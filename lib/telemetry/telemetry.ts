import type { Meter } from '@opentelemetry/api'
import type { Tracing } from './tracing.ts'

/**
 * The telemetry of this process. What is off is undefined, and nothing of OpenTelemetry is loaded then. So code asks
 * each time: `telemetry.tracing?.…`, and makes no object before it has asked.
 */
export interface Telemetry {
  tracing: Tracing | undefined
  /**
   * Makes instruments. It is there before the service starts, and stays until the process ends. So a service makes its
   * instruments once, when it starts: `telemetry.meter?.createCounter(…)`. What is measured anyway is better read by an
   * observable instrument: it costs nothing between two looks. Every reader gets all instruments: the Prometheus port,
   * and OTLP.
   */
  meter: Meter | undefined
}

export const telemetry: Telemetry = { tracing: undefined, meter: undefined }

import { histograms } from './instruments.ts'
import { telemetry } from './telemetry.ts'
import type { TelemetrySource, Wanted } from './wanted.ts'

/**
 * Starts what is wanted, for all of this process. Call it before anything that might use it. Returns a function that
 * sends what is left, and ends it. `failed` hears of faults of the telemetry itself, such as a collector that does not
 * answer.
 */
export async function startTelemetry(
  service: TelemetrySource,
  wanted: Wanted,
  failed: (error: Error) => void,
): Promise<() => Promise<void>> {
  if (wanted.traces.length + wanted.metrics.length === 0) return async () => {}
  const { startSdk } = await import('./sdk.ts')
  const { stop, ...started } = startSdk(service, wanted, failed, histograms)
  Object.assign(telemetry, started)
  return async () => {
    Object.assign(telemetry, { tracing: undefined, meter: undefined })
    await stop()
  }
}

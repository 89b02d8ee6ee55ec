import { startTelemetry } from '#lib/telemetry/start'
import { readWanted } from '#lib/telemetry/wanted'
import { type ReceivedSpan, startTestCollector } from './collector.ts'

/**
 * Traces this process, as the environment of a service would. `spans` stops the tracing, and returns all that the
 * collector received.
 */
export async function startTracing(environment: Record<string, string> = {}): Promise<{
  spans(): Promise<ReceivedSpan[]>
}> {
  const collector = await startTestCollector()
  const given = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.url}/v1/traces`, ...environment }
  const before = Object.fromEntries(Object.keys(given).map((name) => [name, process.env[name]]))
  Object.assign(process.env, given)
  const fail = (error: Error) => console.error(error)
  const stop = await startTelemetry({ name: 'test', version: '1.2.3' }, readWanted(process.env), fail)
  for (const [name, value] of Object.entries(before)) {
    if (value === undefined) delete process.env[name]
    else process.env[name] = value
  }
  return {
    async spans() {
      await stop()
      await collector.stop()
      return collector.spans
    },
  }
}

import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

const metricsEvery = 10_000

/** Starts a collector of OpenTelemetry that takes all and keeps nothing. `settings` have a service send to it. */
export async function startCollector(): Promise<{ settings: Record<string, string>; stop(): Promise<void> }> {
  const server = createServer((request, response) => {
    request.resume().on('end', () => response.setHeader('content-type', 'application/x-protobuf').end())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const settings = {
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    OTEL_METRICS_EXPORTER: 'otlp',
    OTEL_METRIC_EXPORT_INTERVAL: String(metricsEvery),
    OTEL_TRACES_EXPORTER: 'otlp',
    OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
    OTEL_TRACES_SAMPLER_ARG: '0.01',
  }
  const stop = async () => {
    server.closeAllConnections()
    server.close()
  }
  return { settings, stop }
}

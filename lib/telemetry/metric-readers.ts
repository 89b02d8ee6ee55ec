import { diag } from '@opentelemetry/api'
import { getNumberFromEnv } from '@opentelemetry/core'
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-proto'
import {
  ConsoleMetricExporter,
  type IMetricReader,
  type MetricProducer,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import { MetricsPort } from './metrics-port.ts'
import { checkProtocol } from './protocol.ts'

/**
 * Readers of these names, each of which sees every instrument. `prometheus` serves its text on a port of its own, by
 * `OTEL_EXPORTER_PROMETHEUS_HOST` (default: localhost) and `OTEL_EXPORTER_PROMETHEUS_PORT` (default: 9464).
 */
export function metricReaders(names: string[], producer: MetricProducer): IMetricReader[] {
  const metricProducers = [producer]
  const host = process.env['OTEL_EXPORTER_PROMETHEUS_HOST']?.trim() || 'localhost'
  const port = positive('OTEL_EXPORTER_PROMETHEUS_PORT') ?? 9464
  return names.flatMap((name): IMetricReader[] => {
    if (name === 'prometheus') return [new MetricsPort(metricProducers, { host, port })]
    if (name === 'console') return [periodic(new ConsoleMetricExporter(), metricProducers)]
    if (name === 'otlp') {
      checkProtocol('METRICS')
      return [periodic(new OTLPMetricExporter(), metricProducers)]
    }
    diag.warn(`OTEL_METRICS_EXPORTER does not know ${name}: there are otlp, prometheus, console and none`)
    return []
  })
}

function periodic(
  exporter: ConstructorParameters<typeof PeriodicExportingMetricReader>[0]['exporter'],
  metricProducers: MetricProducer[],
) {
  const interval = positive('OTEL_METRIC_EXPORT_INTERVAL') ?? 60_000
  const timeout = positive('OTEL_METRIC_EXPORT_TIMEOUT') ?? 30_000
  const exportTimeoutMillis = Math.min(timeout, interval)
  return new PeriodicExportingMetricReader({
    exporter,
    exportIntervalMillis: interval,
    exportTimeoutMillis,
    metricProducers,
  })
}

function positive(name: string): number | undefined {
  const value = getNumberFromEnv(name)
  return value !== undefined && value > 0 ? value : undefined
}

import { type DataPoint, MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics'
import { startMeasuring } from '#lib/telemetry/instruments'

class Reader extends MetricReader {
  override async onForceFlush() {}
  override async onShutdown() {}
}

/**
 * Measures in this process from now on. Returns the function that reads a counter or gauge, by the values of its
 * labels.
 */
export function startTestMetrics(): (name: string) => Promise<Record<string, number>> {
  const reader = new Reader()
  startMeasuring(new MeterProvider({ readers: [reader] }).getMeter('roster'))
  return async (name) => {
    const { resourceMetrics } = await reader.collect()
    const metrics = resourceMetrics.scopeMetrics.flatMap((scope) => scope.metrics)
    const points = metrics.find(({ descriptor }) => descriptor.name === name)?.dataPoints ?? []
    return Object.fromEntries(
      (points as DataPoint<number>[]).map(({ attributes, value }) => [Object.values(attributes).join(' '), value]),
    )
  }
}

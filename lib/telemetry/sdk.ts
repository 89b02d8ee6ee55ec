import { diag, DiagLogLevel } from '@opentelemetry/api'
import { setGlobalErrorHandler } from '@opentelemetry/core'
import {
  defaultResource,
  detectResources,
  envDetector,
  type Resource,
  resourceFromAttributes,
  serviceInstanceIdDetector,
} from '@opentelemetry/resources'
import { MeterProvider } from '@opentelemetry/sdk-metrics'
import { TracerProvider } from '@opentelemetry/sdk-trace'
import { createTracing } from './create-tracing.ts'
import { produceHistograms } from './histogram-producer.ts'
import type { Counted } from './instruments.ts'
import { metricReaders } from './metric-readers.ts'
import { readSampling } from './sampler.ts'
import { spanLimits, spanProcessors } from './span-processors.ts'
import type { Telemetry } from './telemetry.ts'
import type { TelemetrySource, Wanted } from './wanted.ts'

/**
 * Starts the SDK. Only this file and those that it alone imports load packages of OpenTelemetry, and only an `import()`
 * may name this file. In a bundle it is a program of its own.
 */
export function startSdk(
  service: TelemetrySource,
  wanted: Wanted,
  failed: (error: Error) => void,
  histograms: Counted[],
): Telemetry & { stop(): Promise<void> } {
  listenForFaults(failed)
  const resource = describe(service)
  const stops: (() => Promise<void>)[] = []
  const started: Telemetry = { tracing: undefined, meter: undefined }
  const processors = spanProcessors(wanted.traces)
  if (processors.length > 0) {
    const { sampler, begins } = readSampling(process.env)
    const provider = new TracerProvider({ resource, spanProcessors: processors, spanLimits: spanLimits(), sampler })
    started.tracing = createTracing(provider.getTracer('roster'), begins)
    stops.push(() => provider.shutdown())
  }
  const readers = metricReaders(wanted.metrics, produceHistograms(histograms))
  if (readers.length > 0) {
    const provider = new MeterProvider({ resource, readers })
    started.meter = provider.getMeter('roster')
    stops.push(() => provider.shutdown())
  }
  return {
    ...started,
    async stop() {
      await Promise.allSettled(stops.map((stop) => stop()))
    },
  }
}

// OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES win over what is said here. What the SDK could find out about the
// machine and the command line stays there.
function describe({ name, version }: TelemetrySource): Resource {
  return defaultResource()
    .merge(resourceFromAttributes({ 'service.name': `roster-${name}`, 'service.version': version }))
    .merge(detectResources({ detectors: [serviceInstanceIdDetector, envDetector] }))
}

// The SDK reports its faults in these two ways.
function listenForFaults(failed: (error: Error) => void) {
  const report = (...said: unknown[]) => failed(said.find((part) => part instanceof Error) ?? new Error(said.join(' ')))
  const silent = () => {}
  diag.setLogger(
    { error: report, warn: report, info: silent, debug: silent, verbose: silent },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  )
  setGlobalErrorHandler(report)
}

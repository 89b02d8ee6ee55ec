import { diag } from '@opentelemetry/api'
import { getNumberFromEnv } from '@opentelemetry/core'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import {
  BatchSpanProcessor,
  ConsoleSpanExporter,
  SimpleSpanProcessor,
  type SpanLimits,
  type SpanProcessor,
} from '@opentelemetry/sdk-trace'
import { checkProtocol } from './protocol.ts'

/** Sends spans by the exporters of these names. The exporters read `OTEL_EXPORTER_OTLP_…` themselves. */
export function spanProcessors(names: string[]): SpanProcessor[] {
  return names.flatMap((name): SpanProcessor[] => {
    if (name === 'console') return [new SimpleSpanProcessor({ exporter: new ConsoleSpanExporter() })]
    if (name === 'otlp') {
      checkProtocol('TRACES')
      return [new BatchSpanProcessor({ exporter: new OTLPTraceExporter(), ...given(batches) })]
    }
    diag.warn(`OTEL_TRACES_EXPORTER does not know ${name}: there are otlp, console and none`)
    return []
  })
}

/** The limits of a span, as the environment sets them. */
export function spanLimits(): SpanLimits {
  return { ...given(limits), ...given(ownLimits) }
}

const batches = {
  maxQueueSize: 'OTEL_BSP_MAX_QUEUE_SIZE',
  scheduledDelayMillis: 'OTEL_BSP_SCHEDULE_DELAY',
  exportTimeoutMillis: 'OTEL_BSP_EXPORT_TIMEOUT',
  maxExportBatchSize: 'OTEL_BSP_MAX_EXPORT_BATCH_SIZE',
}
const limits = {
  attributeCountLimit: 'OTEL_ATTRIBUTE_COUNT_LIMIT',
  attributeValueLengthLimit: 'OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT',
}
const ownLimits = {
  attributeCountLimit: 'OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT',
  attributeValueLengthLimit: 'OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT',
  linkCountLimit: 'OTEL_SPAN_LINK_COUNT_LIMIT',
}

function given<Names extends Record<string, string>>(names: Names): Partial<Record<keyof Names, number>> {
  const read = Object.entries(names).map(([option, name]) => [option, getNumberFromEnv(name)] as const)
  return Object.fromEntries(read.filter(([, value]) => value !== undefined && value >= 0)) as never
}

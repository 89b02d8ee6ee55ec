import { diag } from '@opentelemetry/api'

const spoken = 'http/protobuf'

/** Warns where the environment wants another protocol of OTLP than the one that is spoken here. */
export function checkProtocol(signal: 'TRACES' | 'METRICS'): void {
  const [own, common] = [`OTEL_EXPORTER_OTLP_${signal}_PROTOCOL`, 'OTEL_EXPORTER_OTLP_PROTOCOL']
  const name = process.env[own]?.trim() ? own : common
  const wanted = process.env[name]?.trim() || spoken
  if (wanted !== spoken) diag.warn(`${name} is ${wanted}, but only ${spoken} is spoken here`)
}

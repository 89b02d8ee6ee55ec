/** The service whose telemetry this is. */
export interface TelemetrySource {
  name: string
  version: string
}

/** The exporters that the environment asks for, of each signal. Both lists are empty unless a variable says otherwise. */
export interface Wanted {
  traces: string[]
  metrics: string[]
}

/**
 * Reads what OpenTelemetry's own variables ask for. `OTEL_TRACES_EXPORTER` and `OTEL_METRICS_EXPORTER` name exporters.
 * An endpoint without a name means `otlp`. Unlike the SDK's own default, nothing at all means nothing.
 */
export function readWanted(environment: Record<string, string | undefined>): Wanted {
  const get = (name: string) => environment[`OTEL_${name}`]?.trim() ?? ''
  if (get('SDK_DISABLED').toLowerCase() === 'true') return { traces: [], metrics: [] }

  function exportersOf(signal: string): string[] {
    const named = get(`${signal}_EXPORTER`)
      .split(',')
      .map((name) => name.trim())
      .filter(Boolean)
    if (named.includes('none')) return []
    if (named.length > 0) return [...new Set(named)]
    return get('EXPORTER_OTLP_ENDPOINT') || get(`EXPORTER_OTLP_${signal}_ENDPOINT`) ? ['otlp'] : []
  }

  return { traces: exportersOf('TRACES'), metrics: exportersOf('METRICS') }
}

import { expect, test } from 'vitest'
import { readWanted } from './wanted.ts'

const otlp = { traces: ['otlp'], metrics: ['otlp'] }
const nothing = { traces: [], metrics: [] }

test.each<[string, Record<string, string>, object]>([
  ['no variable', {}, nothing],
  ['a variable that asks for no exporter', { OTEL_SERVICE_NAME: 'x', OTEL_TRACES_SAMPLER: 'always_on' }, nothing],
  ['an endpoint', { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' }, otlp],
  ['an endpoint of traces', { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://c/v1/traces' }, { ...otlp, metrics: [] }],
  ['an endpoint of metrics', { OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: 'http://c/v1/m' }, { ...otlp, traces: [] }],
  ['an exporter of traces', { OTEL_TRACES_EXPORTER: 'otlp' }, { ...otlp, metrics: [] }],
  [
    'several exporters',
    { OTEL_METRICS_EXPORTER: ' prometheus,otlp, otlp' },
    { traces: [], metrics: ['prometheus', 'otlp'] },
  ],
  [
    'none beside an endpoint',
    { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c', OTEL_METRICS_EXPORTER: 'none' },
    { ...otlp, metrics: [] },
  ],
  ['an empty variable', { OTEL_TRACES_EXPORTER: '', OTEL_EXPORTER_OTLP_ENDPOINT: ' ' }, nothing],
  ['everything, but disabled', { OTEL_SDK_DISABLED: 'True', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c' }, nothing],
  ['everything, and not disabled', { OTEL_SDK_DISABLED: 'false', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c' }, otlp],
])('%s asks for the exporters of the specification, or for none', (_name, environment, wanted) => {
  expect(readWanted(environment)).toEqual(wanted)
})

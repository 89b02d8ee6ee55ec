import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { startTestCollector, type TestCollector } from '#test/support/collector'
import { createLog } from '#lib/log'
import { startTelemetry } from './start.ts'
import { telemetry } from './telemetry.ts'
import { readWanted } from './wanted.ts'

let collector: TestCollector
const faults: Error[] = []

beforeEach(async () => {
  collector = await startTestCollector()
  faults.length = 0
})
afterEach(async () => {
  vi.unstubAllEnvs()
  await collector.stop()
})

async function start(environment: Record<string, string>) {
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(`OTEL_${name}`, value)
  return startTelemetry(
    { name: 'example', version: '1.2.3' },
    readWanted(process.env),
    (error) => void faults.push(error),
  )
}

test('a stop sends all spans and metrics to the collector, with what the environment says of the service', async () => {
  const stop = await start({
    EXPORTER_OTLP_ENDPOINT: collector.url,
    EXPORTER_OTLP_COMPRESSION: 'gzip',
    RESOURCE_ATTRIBUTES: 'deployment.environment.name=here',
  })
  await telemetry.tracing!.enter({ name: 'work', kind: 'server', attributes: { number: 7 } }, undefined, async () => {})
  telemetry.meter!.createCounter('example.count').add(1)
  await stop()
  expect(collector.spans).toMatchObject([
    { name: 'work', kind: 'server', parentId: '', attributes: { number: 7 }, service: 'roster-example' },
  ])
  const { resource } = collector.spans[0]!
  expect(resource).toMatchObject({
    'deployment.environment.name': 'here',
    'service.version': '1.2.3',
    'telemetry.sdk.language': 'nodejs',
  })
  expect(Object.keys(resource).filter((name) => /^(host|process|os)\./.test(name))).toEqual([])
  expect([...collector.metrics]).toEqual(['example.count'])
  expect(telemetry).toEqual({ tracing: undefined, meter: undefined })
  expect(faults).toEqual([])
})

test('OTEL_SERVICE_NAME wins', async () => {
  const stop = await start({ EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.url}/v1/traces`, SERVICE_NAME: 'other' })
  await telemetry.tracing!.enter({ name: 'work' }, undefined, async () => {})
  expect(telemetry.meter).toBeUndefined()
  await stop()
  expect(collector.spans).toMatchObject([{ service: 'other' }])
})

test('Prometheus reads the same instruments on a port of its own', async () => {
  const port = await freePort()
  const stop = await start({
    METRICS_EXPORTER: 'prometheus,otlp',
    EXPORTER_OTLP_METRICS_ENDPOINT: `${collector.url}/v1/metrics`,
    EXPORTER_PROMETHEUS_HOST: '127.0.0.1',
    EXPORTER_PROMETHEUS_PORT: String(port),
  })
  expect(telemetry.tracing).toBeUndefined()
  telemetry.meter!.createCounter('example.count').add(2, { kind: 'a' })
  const read = await vi.waitFor(async () => (await fetch(`http://127.0.0.1:${port}/metrics`)).text())
  expect(read).toMatch(/^example_count_total\{kind="a",.*\} 2$/m)
  await stop()
  expect([...collector.metrics]).toEqual(['example.count'])
})

test('a line of the log has the ids of the recorded span in which it is written, and else none', async () => {
  const stop = await start({ EXPORTER_OTLP_ENDPOINT: collector.url, TRACES_SAMPLER: 'parentbased_always_off' })
  const lines: Record<string, unknown>[] = []
  const write = (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>)
  const log = createLog('example', 'info', { write }, true).child({}, { redact: [] })
  const tracing = telemetry.tracing!
  const [traceId, spanId] = ['0af7651916cd43dd8448eb211c80319c', 'b7ad6b7169203331']
  await tracing.enter({ name: 'work' }, `00-${traceId}-${spanId}-01`, async (span) => {
    log.info('in the span')
    await tracing.inSpan({ name: 'part' }, async () => log.info('below it'))
    expect(lines[0]).toMatchObject({ trace_id: traceId, span_id: span!.spanContext().spanId })
  })
  expect(lines[1]).toMatchObject({ trace_id: traceId })
  expect(lines[1]!['span_id']).not.toBe(lines[0]!['span_id'])
  log.info('outside')
  await tracing.enter({ name: 'work' }, undefined, async () => log.info('in a span that is not sampled'))
  for (const line of lines.slice(2)) expect(line).not.toHaveProperty('trace_id')
  expect(lines).toHaveLength(4)
  await stop()
})

test.each([
  { TRACES_EXPORTER: 'zipkin' },
  { METRICS_EXPORTER: 'unknown' },
  { TRACES_EXPORTER: 'otlp', TRACES_SAMPLER: 'unknown' },
  { TRACES_EXPORTER: 'otlp', TRACES_SAMPLER: 'traceidratio', TRACES_SAMPLER_ARG: '2' },
  { TRACES_EXPORTER: 'otlp', EXPORTER_OTLP_PROTOCOL: 'grpc' },
])('%j is logged, and the service runs all the same', async (environment) => {
  const stop = await start(environment)
  expect(faults).toMatchObject([{ message: expect.stringContaining('OTEL_') }])
  await stop()
})

test('a collector that is away is logged, and nothing else happens', async () => {
  await collector.stop()
  const soon = { EXPORTER_OTLP_TIMEOUT: '100', BSP_SCHEDULE_DELAY: '10' }
  const stop = await start({ EXPORTER_OTLP_TRACES_ENDPOINT: collector.url, ...soon })
  await telemetry.tracing!.enter({ name: 'work' }, undefined, async () => {})
  await vi.waitFor(() => expect(faults.length).toBeGreaterThan(0), { timeout: 4000 })
  await stop()
  collector = await startTestCollector()
})

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

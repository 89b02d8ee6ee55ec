import { setImmediate as turn } from 'node:timers/promises'
import type { HrTime } from '@opentelemetry/api'
import { InMemorySpanExporter, type ReadableSpan, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import { beforeEach, expect, test, vi } from 'vitest'
import { createTracing } from './create-tracing.ts'
import { createDrafts, type Drafts } from './drafts.ts'
import { readSampling } from './sampler.ts'
import type { Tracing } from './tracing.ts'

const exporter = new InMemorySpanExporter()
const [traceId, spanId] = ['0af7651916cd43dd8448eb211c80319c', 'b7ad6b7169203331']
const parent = `00-${traceId}-${spanId}-01`
let tracing: Tracing
let drafts: Drafts
const milliseconds = ([seconds, nanos]: HrTime) => seconds * 1000 + nanos / 1e6
const duration = (from: HrTime, to: HrTime) => Math.round(milliseconds(to) - milliseconds(from))

function tracingWith(name: string): Tracing {
  const spanProcessors = [new SimpleSpanProcessor({ exporter })]
  const environment = { OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: '0.5' }
  const sampling = readSampling(environment)
  const { sampler } = sampling
  drafts = createDrafts(() => tracer)
  const { idGenerator } = drafts
  const tracer = new TracerProvider({ spanProcessors, sampler, idGenerator }).getTracer('test')
  return createTracing(sampling, drafts)
}

beforeEach(() => {
  exporter.reset()
  tracing = tracingWith('parentbased_always_on')
})

const work = (name: string) => tracing.inSpan({ name }, async () => tracing.place())
function ended() {
  drafts.flush()
  return exporter.getFinishedSpans()
}

test('work goes on with the trace of its parent, also in another turn', async () => {
  await tracing.enter({ name: 'request' }, parent, async (span) => {
    await turn()
    expect(tracing.place()).toBe(`00-${traceId}-${span!.spanId}-01`)
    expect(tracing.ids()).toEqual({ trace_id: traceId, span_id: span!.spanId })
    await work('part')
  })
  const [part, request] = ended()
  expect(request!.parentSpanContext?.spanId).toBe(spanId)
  expect(part!.parentSpanContext?.spanId).toBe(request!.spanContext().spanId)
  expect(tracing.isActive()).toBe(false)
})

test('two works at the same time do not mix', async () => {
  const places = await Promise.all(
    ['a', 'b'].map((name) => tracing.enter({ name }, undefined, async () => (await turn(), tracing.place()))),
  )
  expect(places).toEqual(ended().map((span) => `00-${span.spanContext().traceId}-${span.spanContext().spanId}-01`))
  expect(new Set(ended().map((span) => span.spanContext().traceId)).size).toBe(2)
})

test.each([
  ['a sampler that takes none', 'always_off', undefined],
  ['a parent that is not sampled', 'parentbased_always_on', parent.replace(/01$/, '00')],
])('with %s, work is done without any span, and hears of none', async (_, sampler, from) => {
  tracing = tracingWith(sampler)
  await tracing.enter({ name: 'request' }, from, async (span) => {
    expect([span, tracing.place(), tracing.ids(), tracing.isActive()]).toEqual([undefined, undefined, undefined, false])
    expect(await work('part')).toBeUndefined()
  })
  expect(ended()).toEqual([])
})

test('half of all new traces are sampled with 0.5, each with an id of its own', async () => {
  tracing = tracingWith('parentbased_traceidratio')
  for (let n = 0; n < 1000; n++) await tracing.enter({ name: 'request' }, undefined, async () => {})
  const ids = new Set(ended().map((span) => span.spanContext().traceId))
  expect(ids.size).toBe(ended().length)
  expect(ids.size).toBeGreaterThan(400)
  expect(ids.size).toBeLessThan(600)
})

test('work for several goes on with the first, and has links to the others', async () => {
  const other = parent.replace(traceId, '1'.repeat(32))
  await tracing.together({ name: 'batch' }, [parent, other], () => work('part'))
  const batch = ended().find(({ name }) => name === 'batch')!
  expect(batch.spanContext().traceId).toBe(traceId)
  expect(batch.links.map(({ context }) => context.traceId)).toEqual(['1'.repeat(32)])
})

test('work for a place that is not sampled is in no trace', async () => {
  await tracing.together({ name: 'batch' }, [parent.replace(/01$/, '00')], () => work('part'))
  expect(ended()).toEqual([])
})

test('work for nobody is in no trace, even where one is active', async () => {
  await tracing.enter({ name: 'request' }, undefined, () => tracing.together({ name: 'batch' }, [], () => work('part')))
  expect(ended().map(({ name }) => name)).toEqual(['request'])
})

test('an error is told by its reason or name, never by its message', async () => {
  const error = Object.assign(new Error('for ada@example.com'), { reason: 'USER_NOT_FOUND' })
  const failing = tracing.enter({ name: 'request' }, undefined, () => Promise.reject(error))
  await expect(failing).rejects.toBe(error)
  const [span] = ended()
  expect(span).toMatchObject({ status: { code: 2 }, attributes: { 'error.type': 'USER_NOT_FOUND' }, events: [] })
})

test.each(['', 'x', `00-${'0'.repeat(32)}-${spanId}-01`, `ff-${traceId}-${spanId}-01`, `${parent} `])(
  'a traceparent that is none (%j) begins a new trace',
  async (broken) => {
    await tracing.enter({ name: 'request' }, broken, async (span) => span!.link(broken))
    expect(ended()).toMatchObject([{ parentSpanContext: undefined, links: [] }])
  },
)

test('a span that is added later has the times of its work', async () => {
  const now = performance.now()
  tracing.add({ name: 'publish' }, parent, now - 2000, now - 1000)
  const [{ name, startTime, endTime }] = ended() as [ReadableSpan]
  expect([name, duration(startTime, endTime)]).toEqual(['publish', 1000])
  expect(milliseconds(startTime)).toBeCloseTo(Date.now() - 2000, -3)
})

test('a span is made a second after its end at the latest', async () => {
  const before = Date.now()
  await tracing.enter({ name: 'alone' }, undefined, async (span) => {
    span!.tell(() => ({ name: 'named late', attributes: { a: 'b' } }))
    await turn()
  })
  expect(exporter.getFinishedSpans()).toEqual([])
  await vi.waitFor(() => expect(exporter.getFinishedSpans()).toHaveLength(1), 3000)
  const [span] = exporter.getFinishedSpans()
  expect(span).toMatchObject({ name: 'named late', attributes: { a: 'b' } })
  const [began, finished] = [span!.startTime, span!.endTime].map(milliseconds)
  expect(began).toBeGreaterThan(before - 1)
  expect(finished).toBeGreaterThan(began!)
  expect(finished).toBeLessThan(Date.now() + 1)
})

test('many spans are made at once, without a wait, and in no span', async () => {
  const exported = vi.spyOn(exporter, 'export').mockImplementation((spans, done) => {
    expect(tracing.isActive()).toBe(false)
    InMemorySpanExporter.prototype.export.call(exporter, spans, done)
  })
  await tracing.enter({ name: 'request' }, undefined, async () => {
    for (let n = 0; n < 64; n++) await work('part')
  })
  exported.mockRestore()
  expect(exporter.getFinishedSpans()).toHaveLength(64)
  expect(new Set(exporter.getFinishedSpans().map((span) => span.spanContext().spanId)).size).toBe(64)
})

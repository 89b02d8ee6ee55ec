import { setImmediate as tick } from 'node:timers/promises'
import type { HrTime } from '@opentelemetry/api'
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import { beforeEach, expect, test, vi } from 'vitest'
import { createTracing } from './create-tracing.ts'
import { readSampling } from './sampler.ts'
import type { Tracing } from './tracing.ts'

const exporter = new InMemorySpanExporter()
const [traceId, spanId] = ['0af7651916cd43dd8448eb211c80319c', 'b7ad6b7169203331']
const parent = `00-${traceId}-${spanId}-01`
const notSampled = parent.replace(/01$/, '00')
let tracing: Tracing
const milliseconds = ([seconds, nanos]: HrTime) => seconds * 1000 + nanos / 1e6

function tracingWith(name: string): Tracing {
  const spanProcessors = [new SimpleSpanProcessor({ exporter })]
  const { sampler, begins } = readSampling({ OTEL_TRACES_SAMPLER: name })
  return createTracing(new TracerProvider({ spanProcessors, sampler }).getTracer('test'), begins)
}

beforeEach(() => {
  exporter.reset()
  tracing = tracingWith('parentbased_always_on')
})

const work = (name: string) => tracing.inSpan({ name }, async () => tracing.place())
const ended = () => exporter.getFinishedSpans()

test('work goes on with the trace of its parent, also in another tick', async () => {
  await tracing.enter({ name: 'request' }, parent, async (span) => {
    await tick()
    const own = span!.spanContext()
    expect(tracing.place()).toBe(`00-${traceId}-${own.spanId}-01`)
    expect(tracing.ids()).toEqual({ trace_id: traceId, span_id: own.spanId })
    await work('part')
  })
  const [part, request] = ended()
  expect(request!.parentSpanContext?.spanId).toBe(spanId)
  expect(part!.parentSpanContext?.spanId).toBe(request!.spanContext().spanId)
  expect(tracing.isActive()).toBe(false)
})

test('two works at the same time do not mix', async () => {
  const places = await Promise.all(
    ['a', 'b'].map((name) => tracing.enter({ name }, undefined, async () => (await tick(), tracing.place()))),
  )
  expect(places).toEqual(ended().map((span) => `00-${span.spanContext().traceId}-${span.spanContext().spanId}-01`))
  expect(new Set(ended().map((span) => span.spanContext().traceId)).size).toBe(2)
})

test.each([
  ['a sampler that takes none', 'always_off', undefined],
  ['a number that lets none begin', 'parentbased_always_off', undefined],
  ['a parent that is not sampled', 'parentbased_always_on', notSampled],
])('with %s, work is done without any span, and hears of none', async (_, sampler, from) => {
  tracing = tracingWith(sampler)
  await tracing.enter({ name: 'request' }, from, async (span) => {
    expect([span, tracing.place(), tracing.ids(), tracing.isActive()]).toEqual([undefined, undefined, undefined, false])
    expect(await work('part')).toBeUndefined()
  })
  expect(ended()).toEqual([])
})

test('work for several goes on with the first, and has links to the others', async () => {
  const other = parent.replace(traceId, '1'.repeat(32))
  await tracing.together({ name: 'batch' }, [parent, other, 'none'], () => work('part'))
  const batch = ended().find(({ name }) => name === 'batch')!
  expect(batch.spanContext().traceId).toBe(traceId)
  expect(batch.links.map(({ context }) => context.traceId)).toEqual(['1'.repeat(32)])
})

test.each([[[]], [[notSampled]]])('work for %j is in no trace, even where one is active', async (places) => {
  await tracing.enter({ name: 'request' }, undefined, () =>
    tracing.together({ name: 'batch' }, places, () => work('part')),
  )
  expect(ended().map(({ name }) => name)).toEqual(['request'])
})

test('an error is recorded by its reason or name, never by its message', async () => {
  const error = Object.assign(new Error('for ada@example.com'), { reason: 'USER_NOT_FOUND' })
  const failing = tracing.enter({ name: 'request' }, undefined, () => Promise.reject(error))
  await expect(failing).rejects.toBe(error)
  const [span] = ended()
  expect(span).toMatchObject({ status: { code: 2 }, attributes: { 'error.type': 'USER_NOT_FOUND' }, events: [] })
})

test('a span that is added later has the times of its work', async () => {
  const now = performance.now()
  tracing.add({ name: 'publish' }, parent, now - 2000, now - 1000)
  const [{ startTime, endTime }] = ended() as [ReturnType<typeof ended>[0]]
  expect(milliseconds(startTime)).toBeCloseTo(Date.now() - 2000, -3)
  expect(Math.round(milliseconds(endTime) - milliseconds(startTime))).toBe(1000)
})

test('what is done when a span ends belongs to no span', async () => {
  const active: boolean[] = []
  const exported = vi.spyOn(exporter, 'export').mockImplementation(() => void active.push(tracing.isActive()))
  await tracing.enter({ name: 'request' }, undefined, () => work('part'))
  exported.mockRestore()
  expect(active).toEqual([false, false])
})

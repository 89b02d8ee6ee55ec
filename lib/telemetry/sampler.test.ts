import { ROOT_CONTEXT, type SpanContext, SpanKind, trace } from '@opentelemetry/api'
import { SamplingDecision } from '@opentelemetry/sdk-trace'
import { expect, test } from 'vitest'
import { readSampling } from './sampler.ts'

const low = '0af7651916cd43dd8448eb2100000001'
const high = '0af7651916cd43dd8448eb21ffffffff'

test.each<[string, string, Record<'low' | 'high' | 'below yes' | 'below no', boolean>]>([
  ['always_on', '', { low: true, high: true, 'below yes': true, 'below no': true }],
  ['always_off', '', { low: false, high: false, 'below yes': false, 'below no': false }],
  ['traceidratio', '0', { low: false, high: false, 'below yes': false, 'below no': false }],
  ['traceidratio', '1', { low: true, high: true, 'below yes': true, 'below no': true }],
  ['parentbased_always_on', '', { low: true, high: true, 'below yes': true, 'below no': false }],
  ['parentbased_always_off', '', { low: false, high: false, 'below yes': true, 'below no': false }],
  ['parentbased_traceidratio', '0', { low: false, high: false, 'below yes': true, 'below no': false }],
  ['parentbased_traceidratio', '', { low: true, high: true, 'below yes': true, 'below no': false }],
])('%s with %j samples as the specification says', (name, ratio, wanted) => {
  const { sampler, follows } = readSampling({ OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: ratio })
  const samples = (traceId: string, traceFlags?: number) => {
    const parent: SpanContext = { traceId, spanId: '00f067aa0ba902b7', traceFlags: traceFlags ?? 0, isRemote: true }
    const below = traceFlags === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, parent)
    const { decision } = sampler.shouldSample(below, traceId, 'work', SpanKind.SERVER, {}, [])
    const isSampled = decision === SamplingDecision.RECORD_AND_SAMPLED
    if (traceFlags !== undefined) expect(follows(`00-${traceId}-${parent.spanId}-0${traceFlags}`)).toBe(isSampled)
    return isSampled
  }
  expect({ low: samples(low), high: samples(high), 'below yes': samples(low, 1), 'below no': samples(low, 0) }).toEqual(
    wanted,
  )
})

test('half of all traces are sampled with 0.5, each everywhere or nowhere', () => {
  const sampler = () => readSampling({ OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.5' }).sampler
  const ids = Array.from({ length: 1000 }, () =>
    Buffer.from(crypto.getRandomValues(new Uint8Array(16))).toString('hex'),
  )
  const [here, there] = [sampler(), sampler()].map((one) =>
    ids.map((id) => one.shouldSample(ROOT_CONTEXT, id, 'work', SpanKind.SERVER, {}, []).decision),
  )
  expect(here).toEqual(there)
  const sampled = here!.filter((decision) => decision === SamplingDecision.RECORD_AND_SAMPLED).length
  expect(sampled).toBeGreaterThan(400)
  expect(sampled).toBeLessThan(600)
})

test.each(['0', '0.01', '0.5', '1'])('of the traces that are drawn with %s, the sampler takes every one', (ratio) => {
  const { draw, sampler } = readSampling({ OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: ratio })
  const ids = Array.from({ length: 10_000 }).flatMap(() => draw() ?? [])
  expect(new Set(ids).size).toBe(ids.length)
  for (const id of ids) {
    expect(id).toMatch(/^[0-9a-f]{32}$/)
    const { decision } = sampler.shouldSample(ROOT_CONTEXT, id, 'work', SpanKind.SERVER, {}, [])
    expect(decision).toBe(SamplingDecision.RECORD_AND_SAMPLED)
  }
  expect(ids.length / 10_000).toBeCloseTo(Number(ratio), 1)
})

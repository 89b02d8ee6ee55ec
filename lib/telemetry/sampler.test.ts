import { ROOT_CONTEXT, SpanKind, trace } from '@opentelemetry/api'
import { SamplingDecision } from '@opentelemetry/sdk-trace'
import { expect, test, vi } from 'vitest'
import { readSampling } from './sampler.ts'

test.each<[string, string, Record<'low' | 'high' | 'below yes' | 'below no', boolean>]>([
  ['always_on', '', { low: true, high: true, 'below yes': true, 'below no': true }],
  ['always_off', '', { low: false, high: false, 'below yes': false, 'below no': false }],
  ['traceidratio', '0.5', { low: true, high: false, 'below yes': true, 'below no': true }],
  ['parentbased_always_on', '', { low: true, high: true, 'below yes': true, 'below no': false }],
  ['parentbased_always_off', '', { low: false, high: false, 'below yes': true, 'below no': false }],
  ['parentbased_traceidratio', '0.5', { low: true, high: false, 'below yes': true, 'below no': false }],
  ['parentbased_traceidratio', '', { low: true, high: true, 'below yes': true, 'below no': false }],
])('%s with %j samples as the specification says', (name, ratio, wanted) => {
  const { sampler, begins } = readSampling({ OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: ratio })
  const samples = (end: string, traceFlags?: number) => {
    const traceId = '0'.repeat(24) + end
    const parent = { traceId, spanId: '00f067aa0ba902b7', traceFlags: traceFlags ?? 0, isRemote: true }
    const below = traceFlags === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, parent)
    if (traceFlags === undefined && !begins()) return false
    const { decision } = sampler.shouldSample(below, traceId, 'work', SpanKind.SERVER, {}, [])
    return decision === SamplingDecision.RECORD_AND_SAMPLED
  }
  const [low, high] = ['00000001', 'ffffffff']
  const random = vi.spyOn(Math, 'random').mockReturnValue(0.49)
  expect(samples(low)).toBe(wanted.low)
  random.mockReturnValue(0.51)
  expect(samples(high)).toBe(wanted.high)
  random.mockRestore()
  expect([samples(low, 1), samples(low, 0)]).toEqual([wanted['below yes'], wanted['below no']])
})

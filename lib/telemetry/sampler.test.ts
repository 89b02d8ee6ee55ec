import { ROOT_CONTEXT, SpanKind, trace } from '@opentelemetry/api'
import { SamplingDecision } from '@opentelemetry/sdk-trace'
import { expect, test } from 'vitest'
import { readSampler } from './sampler.ts'

test.each<[string, string, Record<'low' | 'high' | 'below yes' | 'below no', boolean>]>([
  ['always_on', '', { low: true, high: true, 'below yes': true, 'below no': true }],
  ['always_off', '', { low: false, high: false, 'below yes': false, 'below no': false }],
  ['traceidratio', '0.5', { low: true, high: false, 'below yes': true, 'below no': true }],
  ['parentbased_always_on', '', { low: true, high: true, 'below yes': true, 'below no': false }],
  ['parentbased_always_off', '', { low: false, high: false, 'below yes': true, 'below no': false }],
  ['parentbased_traceidratio', '0.5', { low: true, high: false, 'below yes': true, 'below no': false }],
  ['parentbased_traceidratio', '', { low: true, high: true, 'below yes': true, 'below no': false }],
])('%s with %j samples as the specification says', (name, ratio, wanted) => {
  const sampler = readSampler({ OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: ratio })
  const samples = (end: string, traceFlags?: number) => {
    const traceId = '0'.repeat(24) + end
    const parent = { traceId, spanId: '00f067aa0ba902b7', traceFlags: traceFlags ?? 0, isRemote: true }
    const below = traceFlags === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, parent)
    const { decision } = sampler.shouldSample(below, traceId, 'work', SpanKind.SERVER, {}, [])
    return decision === SamplingDecision.RECORD_AND_SAMPLED
  }
  const [low, high] = ['00000001', 'ffffffff']
  expect({ low: samples(low), high: samples(high), 'below yes': samples(low, 1), 'below no': samples(low, 0) }).toEqual(
    wanted,
  )
})

import { ROOT_CONTEXT, SpanKind } from '@opentelemetry/api'
import { type IdGenerator, RandomIdGenerator, type Sampler, SamplingDecision } from '@opentelemetry/sdk-trace'

/** Decides of new traces before there is any span. */
export interface Draw {
  /** Whether the next new trace is sampled. If so, it gets the id for which the sampler said so. */
  isSampled(): boolean
  idGenerator: IdGenerator
}

/**
 * Asks the sampler for the id of a trace to come. Most traces are not sampled, and a span that is not recorded costs
 * ten times as much as this question.
 */
export function createDraw(sampler: Sampler): Draw {
  const random = new RandomIdGenerator()
  let drawn: string | undefined
  return {
    isSampled() {
      const id = random.generateTraceId()
      const { decision } = sampler.shouldSample(ROOT_CONTEXT, id, '', SpanKind.SERVER, {}, [])
      const isSampled = decision !== SamplingDecision.NOT_RECORD
      drawn = isSampled ? id : undefined
      return isSampled
    },
    idGenerator: {
      generateTraceId() {
        const id = drawn ?? random.generateTraceId()
        drawn = undefined
        return id
      },
      generateSpanId: () => random.generateSpanId(),
    },
  }
}

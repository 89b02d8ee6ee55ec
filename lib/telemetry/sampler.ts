import { diag, ROOT_CONTEXT } from '@opentelemetry/api'
import { ParentBasedSampler, type Sampler, SamplingDecision, TraceIdRatioBasedSampler } from '@opentelemetry/sdk-trace'
import { createDraw } from './draw.ts'
import { isSampled, traceIdOf } from './traceparent.ts'

/** What is sampled. The sampler says so of every span; the others say the same before there is any span. */
export interface Sampling {
  sampler: Sampler
  /** Gives the id of a new trace, or undefined where it is not sampled. */
  draw: () => string | undefined
  /** Whether spans below the one of this `traceparent` are sampled. */
  follows: (parent: string) => boolean
}

/**
 * Reads `OTEL_TRACES_SAMPLER` and `OTEL_TRACES_SAMPLER_ARG`. The default follows the parent, and samples every new
 * trace.
 */
export function readSampling(environment: Record<string, string | undefined>): Sampling {
  const name = environment['OTEL_TRACES_SAMPLER']?.trim() || 'parentbased_always_on'
  const [, followsParent, root] = /^(parentbased_)?(always_on|always_off|traceidratio)$/.exec(name) ?? []
  if (root === undefined) {
    diag.warn(`OTEL_TRACES_SAMPLER does not know ${name}: every new trace is sampled`)
    return readSampling({})
  }
  const ratio = environment['OTEL_TRACES_SAMPLER_ARG']?.trim() || '1'
  const share = root === 'traceidratio' ? readShare(ratio) : Number(root === 'always_on')
  const ratioBased = new TraceIdRatioBasedSampler(share)
  const sampler = followsParent ? new ParentBasedSampler({ root: ratioBased }) : ratioBased
  const chooses = (traceId: string) =>
    ratioBased.shouldSample(ROOT_CONTEXT, traceId).decision === SamplingDecision.RECORD_AND_SAMPLED
  const follows = (parent: string) => (followsParent ? isSampled(parent) : chooses(traceIdOf(parent)))
  return { sampler, draw: createDraw(share), follows }
}

function readShare(text: string): number {
  const share = Number(text)
  if (share >= 0 && share <= 1) return share
  diag.warn(`OTEL_TRACES_SAMPLER_ARG is no number from 0 to 1: every new trace is sampled`)
  return 1
}

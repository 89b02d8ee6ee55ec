import { diag } from '@opentelemetry/api'
import { ParentBasedSampler, type Sampler, TraceIdRatioBasedSampler } from '@opentelemetry/sdk-trace'

/** What is sampled: a share of all new traces, from 0 to 1, and of the others what the sampler says. */
export interface Sampling {
  share: number
  sampler: Sampler
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
  const sampler = new TraceIdRatioBasedSampler(share)
  return { share, sampler: followsParent ? new ParentBasedSampler({ root: sampler }) : sampler }
}

function readShare(text: string): number {
  const share = Number(text)
  if (share >= 0 && share <= 1) return share
  diag.warn(`OTEL_TRACES_SAMPLER_ARG is no number from 0 to 1: every new trace is sampled`)
  return 1
}

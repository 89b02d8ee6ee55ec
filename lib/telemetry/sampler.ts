import { diag } from '@opentelemetry/api'
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace'

/**
 * The sampler that `OTEL_TRACES_SAMPLER` and `OTEL_TRACES_SAMPLER_ARG` name. The default follows the parent, and samples
 * every new trace.
 */
export function samplerOf(environment: Record<string, string | undefined>): Sampler {
  const name = environment['OTEL_TRACES_SAMPLER']?.trim() || 'parentbased_always_on'
  const [, followsParent, root] = /^(parentbased_)?(always_on|always_off|traceidratio)$/.exec(name) ?? []
  if (root === undefined) {
    diag.warn(`OTEL_TRACES_SAMPLER does not know ${name}: every new trace is sampled`)
    return samplerOf({})
  }
  const sampler = {
    always_on: () => new AlwaysOnSampler(),
    always_off: () => new AlwaysOffSampler(),
    traceidratio: () => new TraceIdRatioBasedSampler(ratioOf(environment['OTEL_TRACES_SAMPLER_ARG']?.trim() || '1')),
  }[root as 'always_on']()
  return followsParent ? new ParentBasedSampler({ root: sampler }) : sampler
}

function ratioOf(text: string): number {
  const ratio = Number(text)
  if (ratio >= 0 && ratio <= 1) return ratio
  diag.warn(`OTEL_TRACES_SAMPLER_ARG is no number from 0 to 1: every new trace is sampled`)
  return 1
}

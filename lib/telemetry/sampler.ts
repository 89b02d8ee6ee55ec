import { diag } from '@opentelemetry/api'
import { ParentBasedSampler, type Sampler, TraceIdRatioBasedSampler } from '@opentelemetry/sdk-trace'

/**
 * The SDK's sampler that `OTEL_TRACES_SAMPLER` and `OTEL_TRACES_SAMPLER_ARG` name. The default follows the parent, and
 * samples every new trace.
 */
export function readSampler(environment: Record<string, string | undefined>): Sampler {
  const name = environment['OTEL_TRACES_SAMPLER']?.trim() || 'parentbased_always_on'
  const [, followsParent, root] = /^(parentbased_)?(always_on|always_off|traceidratio)$/.exec(name) ?? []
  if (root === undefined) {
    diag.warn(`OTEL_TRACES_SAMPLER does not know ${name}: every new trace is sampled`)
    return readSampler({})
  }
  const ratio = environment['OTEL_TRACES_SAMPLER_ARG']?.trim() || '1'
  const sampler = new TraceIdRatioBasedSampler(
    root === 'traceidratio' ? readShare(ratio) : Number(root === 'always_on'),
  )
  return followsParent ? new ParentBasedSampler({ root: sampler }) : sampler
}

function readShare(text: string): number {
  const share = Number(text)
  if (share >= 0 && share <= 1) return share
  diag.warn(`OTEL_TRACES_SAMPLER_ARG is no number from 0 to 1: every new trace is sampled`)
  return 1
}

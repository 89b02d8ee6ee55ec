import { diag } from '@opentelemetry/api'
import { AlwaysOnSampler, ParentBasedSampler, type Sampler, TraceIdRatioBasedSampler } from '@opentelemetry/sdk-trace'

/** What is sampled: what the SDK's sampler takes. It is asked about a new trace only where `begins` says so. */
export interface Sampling {
  sampler: Sampler
  begins: () => boolean
}

/**
 * Reads `OTEL_TRACES_SAMPLER` and `OTEL_TRACES_SAMPLER_ARG`. The default follows the parent, and samples every new trace.
 * Where all below a new trace follow it, a number decides about it: the SDK would make two ids and a span for each call.
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
  if (!followsParent) return { sampler: new TraceIdRatioBasedSampler(share), begins: () => true }
  return { sampler: new ParentBasedSampler({ root: new AlwaysOnSampler() }), begins: () => Math.random() < share }
}

function readShare(text: string): number {
  const share = Number(text)
  if (share >= 0 && share <= 1) return share
  diag.warn(`OTEL_TRACES_SAMPLER_ARG is no number from 0 to 1: every new trace is sampled`)
  return 1
}

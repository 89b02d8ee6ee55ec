import { type IdGenerator, RandomIdGenerator } from '@opentelemetry/sdk-trace'

/** Decides of new traces before there is any span. */
export interface Draw {
  /** Whether the next new trace is sampled. If so, it gets an id for which the sampler says so, too. */
  isSampled(): boolean
  idGenerator: IdGenerator
}

const random = new RandomIdGenerator()

/**
 * Draws a share of all traces, from 0 to 1. A sampler joins the four words of a trace's id by exclusive or, and samples
 * the trace if the result is small enough. Here the result is drawn first. An id with that result is only made where
 * the trace is sampled. To ask the sampler about an id for every call took 2 % of the gateway's time.
 */
export function createDraw(share: number): Draw {
  const bound = share === 1 ? 2 ** 32 : Math.floor(share * 0xffffffff)
  let drawn: string | undefined
  return {
    isSampled() {
      const number = Math.random() * 2 ** 32
      drawn = number < bound ? idOf(number) : undefined
      return drawn !== undefined
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

function idOf(number: number): string {
  const others = random.generateTraceId().slice(0, 24)
  const words = others.match(/.{8}/g)!.map((word) => Number.parseInt(word, 16))
  const last = words.reduce((joined, word) => joined ^ word, number)
  return others + (last >>> 0).toString(16).padStart(8, '0')
}

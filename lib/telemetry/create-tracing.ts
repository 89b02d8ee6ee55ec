import { AsyncLocalStorage } from 'node:async_hooks'
import { isSpanContextValid, type Link, type SpanContext } from '@opentelemetry/api'
import { Draft, type Drafts } from './drafts.ts'
import type { Sampling } from './sampler.ts'
import type { NewSpan, Tracing } from './tracing.ts'

/** Makes traces. The drafts of their spans go to `drafts` when they end. Nothing is global. */
export function createTracing({ draw, follows }: Pick<Sampling, 'draw' | 'follows'>, drafts: Drafts): Tracing {
  const active = new AsyncLocalStorage<Draft | undefined>()

  async function run<T>(span: Draft, work: (span: Draft) => Promise<T>): Promise<T> {
    try {
      return await active.run(span, work, span)
    } catch (error) {
      span.fail(typeOf(error))
      throw error
    } finally {
      // The clock may have been set back meanwhile.
      span.ended = Math.max(span.began, moment())
      drafts.add(span)
    }
  }

  function begin(span: NewSpan, parent: SpanContext, links: Link[] = [], began = moment()): Draft {
    return new Draft(span, parent, parent.traceId, links, began)
  }

  return {
    enter(span, { parent, linked }, work) {
      const below = read(parent)
      if (below) return follows(below) ? run(begin(span, below, linksTo(linked)), work) : work(undefined)
      const traceId = draw()
      if (traceId === undefined) return work(undefined)
      return run(new Draft(span, undefined, traceId, linksTo(linked), moment()), work)
    },

    isActive: () => active.getStore() !== undefined,

    inSpan(span, work) {
      const above = active.getStore()
      return above ? run(begin(span, above.asParent()), work) : work(undefined)
    },

    place() {
      const span = active.getStore()
      return span && `00-${span.traceId}-${span.spanId}-01`
    },

    together(span, places, work) {
      const [first, ...others] = places
      const below = read(first)
      if (below && follows(below)) return run(begin(span, below, linksTo(...others)), work)
      return active.getStore() ? active.run(undefined, work) : work()
    },

    add(span, place, began, ended) {
      const below = read(place)
      if (!below) return
      const draft = begin(span, below, [], began)
      draft.ended = ended
      drafts.add(draft)
    },

    ids() {
      const span = active.getStore()
      return span && { trace_id: span.traceId, span_id: span.spanId }
    },
  }
}

let offset = Date.now() - performance.now()

// Unix milliseconds, with fractions. The clock of the machine may be set meanwhile.
function moment(): number {
  const [now, since] = [Date.now(), performance.now()]
  if (Math.abs(now - since - offset) > 50) offset = now - since
  return since + offset
}

// The message of an error, and its stack, may hold what belongs in no trace.
function typeOf(error: unknown): string {
  const { reason, code, name } = (error ?? {}) as { reason?: unknown; code?: unknown; name?: unknown }
  return (
    ([reason, code, name].find((text) => typeof text === 'string' && /^\w{1,60}$/.test(text)) as string) ?? '_OTHER'
  )
}

function linksTo(...traceparents: (string | undefined)[]): Link[] {
  return traceparents.flatMap((text) => {
    const found = read(text)
    return found ? [{ context: found }] : []
  })
}

const form = /^(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/

function read(traceparent: string | undefined): SpanContext | undefined {
  if (!traceparent) return undefined
  const [, traceId, spanId, flags] = form.exec(traceparent) ?? []
  if (traceId === undefined || spanId === undefined) return undefined
  const found = { traceId, spanId, traceFlags: Number.parseInt(flags!, 16) & 1, isRemote: true }
  return isSpanContextValid(found) ? found : undefined
}

import { AsyncLocalStorage } from 'node:async_hooks'
import { Draft, type Drafts } from './drafts.ts'
import type { Sampling } from './sampler.ts'
import { isTraceparent, spanIdOf, traceIdOf } from './traceparent.ts'
import type { NewSpan, Tracing } from './tracing.ts'

/** Makes traces. The drafts of their spans go to `drafts` when they end. Nothing is global. */
export function createTracing({ draw, follows }: Pick<Sampling, 'draw' | 'follows'>, drafts: Drafts): Tracing {
  const active = new AsyncLocalStorage<Draft | undefined>()

  // Cold, an async function with `await` and `finally` took a third longer.
  function run<T>(draft: Draft, work: (span: Draft) => Promise<T>): Promise<T> {
    const end = () => {
      draft.ended = performance.now()
      drafts.add(draft)
    }
    return active.run(draft, work, draft).then(
      (value) => {
        end()
        return value
      },
      (error: unknown) => {
        draft.failure = typeOf(error)
        end()
        throw error
      },
    )
  }

  // Undefined where nothing below the place is sampled.
  function draftBelow(place: string | undefined, span: NewSpan): Draft | undefined {
    if (!isTraceparent(place) || !follows(place)) return undefined
    return new Draft(span, traceIdOf(place), spanIdOf(place), true)
  }

  return {
    enter(span, parent, work) {
      if (isTraceparent(parent)) {
        const draft = draftBelow(parent, span)
        return draft ? run(draft, work) : work(undefined)
      }
      const traceId = draw()
      return traceId === undefined ? work(undefined) : run(new Draft(span, traceId), work)
    },

    isActive: () => active.getStore() !== undefined,

    inSpan(span, work) {
      const above = active.getStore()
      return above ? run(new Draft(span, above.traceId, above.spanId), work) : work(undefined)
    },

    place() {
      const span = active.getStore()
      return span && `00-${span.traceId}-${span.spanId}-01`
    },

    together(span, [first, ...others], work) {
      const draft = draftBelow(first, span)
      if (!draft) return active.getStore() ? active.run(undefined, work) : work()
      draft.link(...others)
      return run(draft, work)
    },

    add(span, place, began, ended) {
      const draft = draftBelow(place, span)
      if (draft) drafts.add(Object.assign(draft, { began, ended }))
    },

    ids() {
      const span = active.getStore()
      return span && { trace_id: span.traceId, span_id: span.spanId }
    },
  }
}

// The message of an error, and its stack, may hold what belongs in no trace.
function typeOf(error: unknown): string {
  const { reason, code, name } = (error ?? {}) as { reason?: unknown; code?: unknown; name?: unknown }
  return (
    ([reason, code, name].find((text) => typeof text === 'string' && /^\w{1,60}$/.test(text)) as string) ?? '_OTHER'
  )
}

import { telemetry } from './telemetry/telemetry.ts'
import type { NewSpan } from './telemetry/tracing.ts'

export interface BatchOptions {
  /** Milliseconds between two loads at the least. Default: 0. */
  every?: number
  /** The most keys of a load. Default: no limit. */
  most?: number
  /** The span of a load. It goes on with the trace of the first traced call, and is linked to those of the others. */
  span: NewSpan
}

/** Joins calls of the same moment. `load` gets the keys of all of them and returns their values in the same order. */
export function batchCalls<Key, Value>(
  load: (keys: Key[]) => Promise<Value[]>,
  { every = 0, most = Infinity, span }: BatchOptions,
): (key: Key) => Promise<Value> {
  let last = 0
  let waiting: {
    key: Key
    place: string | undefined
    resolve: (value: Value) => void
    reject: (error: unknown) => void
  }[] = []
  const flush = () => {
    const batch = waiting.slice(0, most)
    waiting = waiting.slice(most)
    last = performance.now()
    if (waiting.length > 0) schedule()
    loadTraced(batch).then(
      (values) => batch.forEach(({ resolve }, index) => resolve(values[index]!)),
      (error: unknown) => batch.forEach(({ reject }) => reject(error)),
    )
  }
  const loadTraced = (batch: typeof waiting) => {
    const { tracing } = telemetry
    const keys = batch.map(({ key }) => key)
    if (!tracing) return load(keys)
    const places = batch.flatMap(({ place }) => place ?? [])
    return tracing.together(span, places, () => load(keys))
  }
  const schedule = () => {
    const wait = waiting.length < most ? last + every - performance.now() : 0
    // Wait at least until all that the socket has brought is read.
    if (wait > 0) setTimeout(flush, wait)
    else setImmediate(flush)
  }
  return (key) =>
    new Promise((resolve, reject) => {
      waiting.push({ key, place: telemetry.tracing?.place(), resolve, reject })
      if (waiting.length === 1) schedule()
    })
}

export interface BatchedOptions {
  /** Milliseconds between two loads at the least. Default: 0. */
  every?: number
  /** The most keys of a load. Default: no limit. */
  most?: number
}

/** Joins calls of the same moment. `load` gets the keys of all of them and gives their values in the same order. */
export function batched<Key, Value>(
  load: (keys: Key[]) => Promise<Value[]>,
  { every = 0, most = Infinity }: BatchedOptions = {},
): (key: Key) => Promise<Value> {
  let last = 0
  let waiting: { key: Key; resolve: (value: Value) => void; reject: (error: unknown) => void }[] = []
  const flush = () => {
    const batch = waiting.slice(0, most)
    waiting = waiting.slice(most)
    last = performance.now()
    if (waiting.length > 0) schedule()
    load(batch.map(({ key }) => key)).then(
      (values) => batch.forEach(({ resolve }, index) => resolve(values[index]!)),
      (error: unknown) => batch.forEach(({ reject }) => reject(error)),
    )
  }
  const schedule = () => {
    const wait = waiting.length < most ? last + every - performance.now() : 0
    // Wait at least until all that the socket has brought is read.
    if (wait > 0) setTimeout(flush, wait)
    else setImmediate(flush)
  }
  return (key) =>
    new Promise((resolve, reject) => {
      waiting.push({ key, resolve, reject })
      if (waiting.length === 1) schedule()
    })
}

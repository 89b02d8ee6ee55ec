/** Joins calls of the same moment. `load` gets the keys of all of them and gives their values in the same order. */
export function batched<Key, Value>(load: (keys: Key[]) => Promise<Value[]>): (key: Key) => Promise<Value> {
  let waiting: { key: Key; resolve: (value: Value) => void; reject: (error: unknown) => void }[] = []
  const flush = () => {
    const batch = waiting
    waiting = []
    load(batch.map(({ key }) => key)).then(
      (values) => batch.forEach(({ resolve }, index) => resolve(values[index]!)),
      (error: unknown) => batch.forEach(({ reject }) => reject(error)),
    )
  }
  return (key) =>
    new Promise((resolve, reject) => {
      waiting.push({ key, resolve, reject })
      // Wait until all that the socket has brought is read.
      if (waiting.length === 1) setImmediate(flush)
    })
}

/** Makes several calls of one moment one: `load` is given the keys of all, and gives their values in that order. */
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
      // After the whole of what the socket brought.
      if (waiting.length === 1) setImmediate(flush)
    })
}

/** A cache: remembers what was set last, up to a size. */
export interface Halves<Key, Value> {
  get(key: Key): Value | undefined
  set(key: Key, value: Value, size: number): void
  clear(): void
}

/** Remembers values of up to this size together, in two halves. When one half is full, the other is dropped. */
export function createHalves<Key, Value>(capacity: number): Halves<Key, Value> {
  let [younger, older, held] = [new Map<Key, Value>(), new Map<Key, Value>(), 0]
  return {
    get: (key) => younger.get(key) ?? older.get(key),
    set(key, value, size) {
      if (held + size > capacity / 2) [younger, older, held] = [new Map(), younger, 0]
      younger.set(key, value)
      held += size
    },
    clear: () => void ([younger, older, held] = [new Map(), new Map(), 0]),
  }
}

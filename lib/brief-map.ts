const leastDeletes = 64

/**
 * A map for entries that come and go with each call. Use it instead of a Map or Set there.
 *
 * V8 replaces the table of a Map after a number of changes, and the former table points to the next one. Once a table
 * has reached the old generation, every later table follows it there, with the calls in its entries. Only a major
 * collection frees them. So this map takes a fresh Map from time to time.
 */
export class BriefMap<Key, Value> {
  #map = new Map<Key, Value>()
  #deleted = 0

  get size(): number {
    return this.#map.size
  }

  has(key: Key): boolean {
    return this.#map.has(key)
  }

  get(key: Key): Value | undefined {
    return this.#map.get(key)
  }

  set(key: Key, value: Value): void {
    this.#map.set(key, value)
  }

  /** Returns whether there was such an entry. */
  delete(key: Key): boolean {
    if (!this.#map.delete(key)) return false
    // In proportion to what a fresh Map costs.
    if (++this.#deleted >= leastDeletes + this.#map.size) {
      this.#map = new Map(this.#map)
      this.#deleted = 0
    }
    return true
  }

  /** The keys, in the order in which they were set. */
  keys(): MapIterator<Key> {
    return this.#map.keys()
  }

  /** The values, in the same order. */
  values(): MapIterator<Value> {
    return this.#map.values()
  }

  [Symbol.iterator](): MapIterator<[Key, Value]> {
    return this.#map[Symbol.iterator]()
  }
}

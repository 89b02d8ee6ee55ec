/**
 * Gives values by key, and makes a value when it is first asked for. A value stays at least `maxAge` milliseconds after
 * it was last asked for, unless more than `capacity` others are asked for meanwhile. `now` is in milliseconds and never
 * goes back.
 */
export function createRecent<Value>(make: () => Value, maxAge: number, capacity = 50_000) {
  let young = new Map<string, Value>()
  let old = new Map<string, Value>()
  let turned = -Infinity

  return (key: string, now: number): Value => {
    if (now - turned >= maxAge || young.size >= capacity) {
      old = young
      young = new Map()
      turned = now
    }
    let value = young.get(key)
    if (value === undefined) young.set(key, (value = old.get(key) ?? make()))
    return value
  }
}

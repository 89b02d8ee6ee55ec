/** Random numbers that a seed decides. */
export interface Random {
  /** From 0, below 1. */
  next(): number
  /** A whole number from `low` to `high`, both included. */
  between(low: number, high: number): number
  pick<T>(items: readonly T[]): T
  shuffle<T>(items: readonly T[]): T[]
}

/** The numbers of this seed and purpose: two purposes do not disturb each other. */
export function seeded(seed: number, purpose = ''): Random {
  let state = seed >>> 0
  for (const char of purpose) state = Math.imul(state ^ char.codePointAt(0)!, 0x9e3779b1) >>> 0

  // mulberry32
  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  const between = (low: number, high: number) => low + Math.floor(next() * (high - low + 1))
  return {
    next,
    between,
    pick: (items) => items[between(0, items.length - 1)]!,
    shuffle(items) {
      const left = [...items]
      return Array.from({ length: left.length }, () => left.splice(between(0, left.length - 1), 1)[0]!)
    },
  }
}

import { BriefMap } from './brief-map.ts'

/** An answer to cache. `until` is the end that it has of its own: Unix time in milliseconds. */
export interface Cached<Value> {
  value: Value
  until?: number | undefined
}

/** A cache: remembers answers for a short while. Of many that wait for the same answer, one asks. */
export interface Cache<Value> {
  /** Returns the answer that is remembered under the key, unless it is too old. */
  get(key: string): Value | undefined
  /** Asks, or waits for the same question that is under way. Remembers the answer for at most `maxAge`. */
  obtain(key: string, ask: () => Promise<Cached<Value>>): Promise<Value>
  /** Evicts the answers that fit, also an answer that is still under way. */
  evict(fits: (value: Value) => boolean): void
  clear(): void
}

interface Question<Value> {
  answer: Promise<Value>
  /**
   * The tests of each `evict` since the question began. An answer that fits one is not cached: it may be older.
   */
  evicted: ((value: Value) => boolean)[]
}

/** What a cache may hold. */
export interface Capacity<Value> {
  /** The most that all answers may take together. The most recently used stay. */
  capacity: number
  /** What an answer takes. Default: each takes one. */
  sizeOf?: (value: Value) => number
  /** Milliseconds. */
  maxAge: number
}

/** Remembers answers as far as they fit, each for at most `maxAge` milliseconds. */
export function createCache<Value>({ capacity, sizeOf = () => 1, maxAge }: Capacity<Value>): Cache<Value> {
  const entries = new BriefMap<string, { value: Value; until: number; size: number }>()
  let held = 0
  const underWay = new Map<string, Question<Value>>()
  const questions = new Set<Question<Value>>()

  function store(key: string, value: Value, until: number) {
    drop(key)
    const size = sizeOf(value)
    entries.set(key, { value, until, size })
    for (held += size; held > capacity;) drop(entries.keys().next().value!)
  }

  function drop(key: string) {
    held -= entries.get(key)?.size ?? 0
    entries.delete(key)
  }

  function start(key: string, ask: () => Promise<Cached<Value>>): Question<Value> {
    const asked = Date.now()
    const question: Question<Value> = { answer: undefined!, evicted: [] }
    const run = async () => {
      try {
        const { value, until = Infinity } = await ask()
        if (!question.evicted.some((fits) => fits(value))) store(key, value, Math.min(asked + maxAge, until))
        return value
      } finally {
        questions.delete(question)
        if (underWay.get(key) === question) underWay.delete(key)
      }
    }
    questions.add(question)
    underWay.set(key, question)
    question.answer = run()
    return question
  }

  function evict(fits: (value: Value) => boolean) {
    for (const [key, { value }] of entries) if (fits(value)) drop(key)
    for (const question of questions) question.evicted.push(fits)
    // A question from now on must not get an answer that was on its way before.
    underWay.clear()
  }

  return {
    get(key) {
      const entry = entries.get(key)
      if (!entry) return undefined
      if (entry.until <= Date.now()) return (drop(key), undefined)
      entries.delete(key)
      entries.set(key, entry)
      return entry.value
    },
    obtain(key, ask) {
      return (underWay.get(key) ?? start(key, ask)).answer
    },
    evict,
    clear: () => evict(() => true),
  }
}

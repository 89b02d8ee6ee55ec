import type { Attributes, Meter } from '@opentelemetry/api'

/** A metric as its page shows it. */
export interface Declared {
  /** In OpenTelemetry's words, with dots. */
  name: string
  kind: 'counter' | 'gauge' | 'histogram'
  unit: string
  /** The description, for an operator. */
  description: string
  /** Its labels in their order. Each has few values: these, or those that a word such as `operation` stands for. */
  labels: Record<string, readonly string[] | string>
}

type Facts = Omit<Declared, 'kind' | 'labels'> & {
  labels?: Declared['labels']
  /** Returns the labels as they are shown. It is asked once for each combination of values. */
  show?: (labels: Record<string, string>) => Attributes
}

/** Every metric of this process. A file that measures declares its metrics when it is loaded. */
export const declared: Declared[] = []

let meter: Meter | undefined
const waiting: ((meter: Meter) => void)[] = []

/** Whether anybody reads the metrics. Where it is false, nothing may be done for them. */
export function measures(): boolean {
  return meter !== undefined
}

/** Starts to measure. Call it before the service starts. */
export function startMeasuring(own: Meter): void {
  meter = own
  for (const begin of waiting.splice(0)) begin(own)
}

export interface Counter {
  /** Counts, under the values of the labels in their order. */
  add(count: number, first?: string, second?: string): void
}

/** Declares a number that only grows. It begins at zero for all values that its labels list. */
export function counter(facts: Facts): Counter {
  const own = declare('counter', facts)
  const sums = rememberAttributes(own, (attributes) => ({ attributes, value: 0 }))
  whenMeasuring((meter) => {
    const lists = Object.values(own.labels)
    if (lists.length === 0) sums()
    if (lists.every((list) => typeof list !== 'string'))
      for (const first of lists[0] ?? []) for (const second of lists[1] ?? ['']) sums(first, second)
    meter.createObservableCounter(own.name, describe(own)).addCallback((result) => {
      for (const { attributes, value } of sums.all) result.observe(value, attributes)
    })
  })
  return {
    add(count, first, second) {
      if (meter) sums(first, second).value += count
    },
  }
}

export interface Histogram {
  /** Records a value, under the values of the labels in their order. */
  record(value: number, first?: string, second?: string, third?: string): void
}

/** What a histogram has counted, for the SDK to read. */
export interface Counted extends Pick<Declared, 'name' | 'unit' | 'description'> {
  bounds: number[]
  points(): Iterable<{ attributes: Attributes; counts: number[]; count: number; sum: number }>
}

/** Every histogram of this process. */
export const histograms: Counted[] = []

/**
 * Declares numbers that are counted by their size, up to each of the bounds. It counts by itself: the SDK would make a
 * text of the labels each time, and a call has two histograms.
 */
export function histogram({ bounds, ...facts }: Facts & { bounds: number[] }): Histogram {
  const own = declare('histogram', facts)
  const points = rememberAttributes(own, (attributes) => {
    return { attributes, counts: Array<number>(bounds.length + 1).fill(0), count: 0, sum: 0 }
  })
  histograms.push({ ...own, bounds, points: () => points.all })
  return {
    record(value, first, second, third) {
      if (!meter) return
      const point = points(first, second, third)
      let bucket = 0
      while (bucket < bounds.length && value > bounds[bucket]!) bucket++
      point.counts[bucket]!++
      point.count++
      point.sum += value
    },
  }
}

export interface Gauge {
  /**
   * Reads the number whenever somebody asks, until the function that it returns is called. Undefined: not known.
   * Of several watches of the same labels, the last one counts.
   */
  watch(read: () => number | undefined, first?: string, second?: string): () => void
}

/** Declares a number that is read whenever somebody asks. */
export function gauge(facts: Facts): Gauge {
  const own = declare('gauge', facts)
  const attributes = rememberAttributes(own, (attributes) => attributes)
  const watched = new Map<Attributes, () => number | undefined>()
  whenMeasuring((meter) => {
    meter.createObservableGauge(own.name, describe(own)).addCallback((result) => {
      for (const [attributes, read] of watched) {
        const value = read()
        if (value !== undefined) result.observe(value, attributes)
      }
    })
  })
  return {
    watch(read, first, second) {
      if (!meter) return () => {}
      const own = attributes(first, second)
      watched.set(own, read)
      return () => {
        if (watched.get(own) === read) watched.delete(own)
      }
    },
  }
}

function declare(kind: Declared['kind'], { labels = {}, ...facts }: Facts): Declared & Pick<Facts, 'show'> {
  const own = { ...facts, kind, labels }
  declared.push(own)
  return own
}

function whenMeasuring(begin: (meter: Meter) => void): void {
  if (meter) begin(meter)
  else waiting.push(begin)
}

function describe({ unit, description }: Declared) {
  return { unit, description }
}

/** Stands for a value that a label does not list, in OpenTelemetry's conventions. */
const other = '_OTHER'

/** Makes one object for each combination of values, and no second one. */
function rememberAttributes<T>(
  { labels, show = (own) => own }: Declared & Pick<Facts, 'show'>,
  make: (attributes: Attributes) => T,
) {
  const names = Object.keys(labels)
  const lists = Object.values(labels)
  // To join all values to one key would take longer than three lookups.
  const known = new Map<string, Map<string, Map<string, T>>>()
  const all: T[] = []
  const listed = (value: string, index: number) => {
    const list = lists[index]
    return typeof list === 'string' || list?.includes(value) !== false ? value : other
  }

  function find(first = '', second = '', third = ''): T {
    return known.get(first)?.get(second)?.get(third) ?? add([first, second, third].map(listed))
  }

  function add(values: string[]): T {
    const [first, second, third] = values as [string, string, string]
    const bySecond = known.get(first) ?? new Map<string, Map<string, T>>()
    const byThird = bySecond.get(second) ?? new Map<string, T>()
    let own = byThird.get(third)
    if (own !== undefined) return own
    own = make(show(Object.fromEntries(names.map((name, index) => [name, values[index]!]))))
    all.push(own)
    known.set(first, bySecond.set(second, byThird.set(third, own)))
    return own
  }

  return Object.assign(find, { all })
}

import { deadlineExceeded, type RosterError } from './errors.ts'

/** How much work runs and waits at a time. */
export interface SemaphoreSize {
  atOnce: number
  /** How much of it belongs to one lane at most. */
  ofOneLane?: number
  waiting: number
}

/** The owner of some work. Work of one lane runs in its order. */
export interface Place {
  lane: string
  /** Every second slot belongs to preferred work while some waits. */
  preferred?: boolean
  /** Unix time in milliseconds after which the caller no longer waits for the work. */
  deadline?: number
}

interface Entry {
  place: Place
  begin(): void
  refuse(error: Error): void
}

/**
 * A semaphore with a fair queue: a limited amount of work runs at a time, and the rest waits. Lanes that asked least
 * within the minute go first, and equal lanes are served round robin. So a newcomer need not wait for a caller that
 * asks again and again. If too much waits, the longest lane that is not preferred loses its last entry: the error of
 * `full`. DEADLINE_EXCEEDED for work that waited too long.
 */
export function createFairSemaphore({ atOnce, ofOneLane = atOnce, waiting }: SemaphoreSize, full: () => RosterError) {
  // Preferred and other lanes, each in the order in which they are served, with their entries.
  const kinds = [new Map<string, Entry[]>(), new Map<string, Entry[]>()] as const
  let [running, queued, slots] = [0, 0, 0]
  // How often each lane asked within the current minute.
  const asked = new Map<string, number>()
  let forgetAt = 0
  // How much of each lane runs.
  const busy = new Map<string, number>()
  const asks = (lane: string) => asked.get(lane) ?? 1

  function next(): Entry | undefined {
    const free = kinds.map((lanes) => [...lanes].filter(([name]) => (busy.get(name) ?? 0) < ofOneLane))
    const index = free[slots % 2]!.length > 0 ? slots % 2 : (slots + 1) % 2
    slots++
    if (free[index]!.length === 0) return undefined
    const lanes = kinds[index]!
    const [name, entries] = free[index]!.reduce((one, other) => (asks(other[0]) < asks(one[0]) ? other : one))
    const entry = entries.shift()!
    lanes.delete(name)
    if (entries.length > 0) lanes.set(name, entries)
    queued--
    return entry
  }

  function go() {
    while (running < atOnce) {
      const entry = next()
      if (!entry) return
      if ((entry.place.deadline ?? Infinity) <= Date.now()) {
        entry.refuse(deadlineExceeded())
        continue
      }
      account(entry.place.lane, 1)
      entry.begin()
    }
  }

  function account(lane: string, more: 1 | -1) {
    running += more
    const count = (busy.get(lane) ?? 0) + more
    if (count === 0) busy.delete(lane)
    else busy.set(lane, count)
  }

  function add(entry: Entry) {
    if (Date.now() > forgetAt) {
      asked.clear()
      forgetAt = Date.now() + 60_000
    }
    asked.set(entry.place.lane, (asked.get(entry.place.lane) ?? 0) + 1)
    const lanes = kinds[entry.place.preferred ? 0 : 1]
    const own = lanes.get(entry.place.lane)
    if (own) own.push(entry)
    else lanes.set(entry.place.lane, [entry])
    if (++queued > waiting) dropLongest()
  }

  function dropLongest() {
    const lanes = kinds[1].size > 0 ? kinds[1] : kinds[0]
    const weight = ([name, { length }]: [string, Entry[]]) => length + (1 - 1 / asks(name))
    const [name, entries] = [...lanes].reduce((one, other) => (weight(other) > weight(one) ? other : one))
    const dropped = entries.pop()!
    if (entries.length === 0) lanes.delete(name)
    queued--
    dropped.refuse(full())
  }

  return async function through<T>(place: Place, work: () => Promise<T>): Promise<T> {
    await new Promise<void>((begin, refuse) => {
      add({ place, begin, refuse })
      go()
    })
    try {
      return await work()
    } finally {
      account(place.lane, -1)
      go()
    }
  }
}

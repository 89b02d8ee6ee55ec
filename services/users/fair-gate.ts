import { RosterError } from '#lib/errors'
import { deadlineExceeded } from '#lib/rpc/call'

/** How much work runs and waits at a time. */
export interface GateSize {
  atOnce: number
  waiting: number
}

/** Whose work it is: work of one lane runs in its order, lanes take turns. */
export interface Place {
  lane: string
  /** Every second turn is for these while some wait. */
  preferred?: boolean
  /** Unix time in milliseconds after which nobody waits for it. */
  deadline?: number
}

interface Entry {
  place: Place
  begin(): void
  refuse(error: Error): void
}

/**
 * Lets through so much work at a time. The rest waits, a lane being as good as another, however much it has. Where too much waits,
 * the longest lane loses its last: RESOURCE_EXHAUSTED PASSWORDS_THROTTLED. DEADLINE_EXCEEDED for work that waited too long.
 */
export function createFairGate({ atOnce, waiting }: GateSize) {
  // In the order of their turns, each with its entries.
  const kinds = [new Map<string, Entry[]>(), new Map<string, Entry[]>()] as const
  let [running, queued, turn] = [0, 0, 0]

  function next(): Entry | undefined {
    const lanes = kinds[turn++ % 2]!.size > 0 ? kinds[(turn - 1) % 2]! : kinds[turn % 2]!
    const [lane] = lanes
    if (!lane) return undefined
    const [name, entries] = lane
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
      running++
      entry.begin()
    }
  }

  function add(entry: Entry) {
    const lanes = kinds[entry.place.preferred ? 0 : 1]
    const own = lanes.get(entry.place.lane)
    if (own) own.push(entry)
    else lanes.set(entry.place.lane, [entry])
    if (++queued > waiting) dropLongest()
  }

  function dropLongest() {
    const all = kinds.flatMap((lanes) => [...lanes].map(([name, entries]) => ({ lanes, name, entries })))
    const { lanes, name, entries } = all.reduce((a, b) => (b.entries.length >= a.entries.length ? b : a))
    const dropped = entries.pop()!
    if (entries.length === 0) lanes.delete(name)
    queued--
    dropped.refuse(
      new RosterError('RESOURCE_EXHAUSTED', 'PASSWORDS_THROTTLED', 'Too many passwords wait.', { retryAfter: 5 }),
    )
  }

  return async function through<T>(place: Place, work: () => Promise<T>): Promise<T> {
    await new Promise<void>((begin, refuse) => {
      add({ place, begin, refuse })
      go()
    })
    try {
      return await work()
    } finally {
      running--
      go()
    }
  }
}

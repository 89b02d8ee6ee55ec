/** An event as PostgreSQL holds it. */
export interface Stored {
  /** The id that the event has everywhere else. */
  id: string
  type: string
  /** `user gigi` */
  aggregate: string
  aggregateId: string
  sequence: number
  requestId: string
  /** Milliseconds. */
  storedAt: number
}

/** An event as a reader saw it. */
export type Seen = Pick<Stored, 'id'> & Partial<Pick<Stored, 'aggregate' | 'sequence' | 'requestId'>>

/** A fault and its time in milliseconds. */
export interface Wrong {
  at: number
  sentence: string
}

/**
 * Compares the events that a reader saw with the stored ones. An event that was stored before the look must have come
 * exactly once and unchanged, each aggregate's events in order. No event may come that is not stored by now. `where`
 * names the reader's source: `in the stream`.
 */
export function compare(where: string, before: Stored[], seen: Seen[], after: Stored[]): Wrong[] {
  const wrong: Wrong[] = []
  const stored = new Map(after.map((event) => [event.id, event]))
  const next = new Map<string, number>()
  for (const { aggregate, sequence } of after) next.set(aggregate, Math.min(sequence, next.get(aggregate) ?? sequence))
  const known = new Set<string>()
  for (const { id, ...facts } of seen) {
    const event = stored.get(id)
    const add = (sentence: string) => wrong.push({ at: event?.storedAt ?? Date.now(), sentence })
    if (known.has(id)) add(`${id} is ${where} twice`)
    if (!event) add(`${id} is ${where}, but was never stored`)
    if (!event || known.has(id)) continue
    known.add(id)
    const { aggregate, sequence, requestId } = event
    const place = next.get(aggregate)
    if (sequence !== place) add(`${aggregate}: ${sequence} is ${where} instead of ${place}`)
    next.set(aggregate, sequence + 1)
    const differs = Object.entries(facts).some(([fact, value]) => ({ aggregate, sequence, requestId })[fact] !== value)
    if (differs) add(`${id} is ${where} as ${JSON.stringify(facts)}`)
  }
  for (const { id, type, requestId, storedAt } of before)
    if (!known.has(id)) wrong.push({ at: storedAt, sentence: `${id} (${type}, ${requestId}) is not ${where}` })
  return wrong
}

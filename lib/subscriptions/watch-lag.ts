import { randomUUID } from 'node:crypto'
import type { EventFilter, EventPosition } from '#gen/roster/feed/v1/feed'
import type { Feed } from './own-events.ts'
import type { Gauge } from '../telemetry/instruments.ts'
import { lookOften } from '../telemetry/look-often.ts'

export interface WatchLagOptions {
  /** Lists the events that are followed. */
  feed: Feed<{ requestId: string; deadline: number }>
  /** Reads the place that was reached. */
  place(): Promise<EventPosition | undefined>
  /** Without a place: which events the follower begins with. */
  begin?: () => Promise<EventFilter>
  lag: Gauge
  age: Gauge
  /** The value of their label. */
  label: string
}

const answerWithin = 5000
/** Milliseconds after which a number that could not be renewed is none any more. */
const knownFor = 10_000

/** Measures how far somebody who follows events is behind them. The service that has the events counts them. */
export function watchLag({ feed, place, begin, lag, age, label }: WatchLagOptions): { stop(): void } {
  let seen: { behind: number | undefined; since: Date | undefined } | undefined
  let lookedAt = Date.now()
  const looking = lookOften(async () => {
    const after = await place()
    const filter = after ? undefined : await begin?.()
    const request = { after, fromEnd: false, filter, limit: 1, countOnly: true }
    const answer = await feed(request, { requestId: randomUUID(), deadline: Date.now() + answerWithin })
    seen = { behind: answer.behind, since: answer.behindSince }
    lookedAt = Date.now()
  })
  const ageNow = () => {
    const now = Date.now()
    if (seen?.since) return Math.max(0, now - seen.since.getTime()) / 1000
    // Where that is unknown, an event may have waited since the last look that found none.
    if (now - lookedAt > knownFor) return (now - lookedAt) / 1000
    return seen?.behind
  }
  const unwatch = [lag.watch(() => seen?.behind, label), age.watch(ageNow, label)]
  return {
    stop() {
      looking.stop()
      for (const end of unwatch) end()
    },
  }
}

import { randomUUID } from 'node:crypto'
import type { Event, EventPosition, ListedEvent, ListEventsResponse } from '#gen/roster/feed/v1/feed'
import { codes, RosterError } from '../errors.ts'
import { meansType } from '../events/event-type.ts'
import { hintSubject, readHints } from '../events/hints.ts'
import { type Feed, ownEvents } from './own-events.ts'
import type { Log } from '../log.ts'
import type { Nats } from '../nats/connect-nats.ts'
import type { Service } from '../process.ts'
import { pause, repeat } from '../repeat.ts'
import { below } from '../telemetry/in-span.ts'
import { throttled } from '../throttled.ts'
import type { Origin } from '../eventstore/command.ts'
import { isCancelled, isConnectionError, type Sql } from '../database/database.ts'
import { followed, followerAge, followerLag, followerLagAge } from './measures.ts'
import { addDeadLetter, dueDeadLetters, readPlace, removeDeadLetter, savePlace } from './follower-rows.ts'
import { watchLag } from './watch-lag.ts'

export interface FollowOptions {
  /** Names the place that is kept, so it never changes: `user-removal`. */
  name: string
  /** The service that has the events, such as `users`. */
  service: string
  /** Lists those events: the service's own feed, or its ListEvents. */
  feed: Feed<Pick<Origin, 'requestId' | 'deadline'>>
  /** The types of events to follow, as filters name them: `user.removed`. */
  eventTypes: string[]
  /**
   * Works on an event. May get it again, even at the same time at another replica, and may get it after later events.
   * Long work looks at `stopped` and returns early: the event then comes again.
   */
  handle(event: Event, stopped: AbortSignal): Promise<void>
  /** Those of a page of events that need work, by one look for all. A dead letter is not asked about. Default: all. */
  needWork?(events: Event[]): Promise<ReadonlySet<Event>>
  /** Events to work on at the same time. Default: 1, which keeps the order of commits. */
  atOnce?: number
  /** The database of the following service. */
  sql: Sql
  nats: Nats
  log: Log
  /** Milliseconds between two looks if no hint comes. */
  lookEvery?: number
}

const pageSize = 200
/** Milliseconds between two looks at the least, so that events of that time share a page. */
const collectFor = 50
const retryAfter = 1000
const answerWithin = 10_000
/** Milliseconds for one command of a cascade. */
const patience = 25_000
const longestPause = 60 * 60_000

/**
 * Follows a service's events in the order of their commits, from the first one on. Hands each to `handle` at least
 * once, however long the follower was away, and stores the place reached. Replicas may follow at the same time: the
 * work of an event must be harmless twice, and the faster one stores the place.
 *
 * While a server or service is away, the follower waits for it. Any other error concerns one event: the follower
 * stores that event as a dead letter, logs an error, and goes on with the next one. It tries a dead letter again for
 * ever, after pauses that grow to an hour.
 */
export function startFollowing(options: FollowOptions): Service {
  const { name, service, eventTypes, handle, needWork, atOnce = 1, sql, nats, log, lookEvery = 5000 } = options
  // A service that was taken over must not speak for a sister.
  const feed = ownEvents(service, options.feed, log)
  const filter = {
    organizationId: '',
    aggregateTypes: [],
    aggregateIds: [],
    eventTypes,
    actors: [],
    since: undefined,
  }

  // The hint only wakes. The events come from PostgreSQL.
  const hints = nats.connection.subscribe(hintSubject(service), {
    callback(error, message) {
      const isMeant = ({ type }: { type: string }) => eventTypes.some((wanted) => meansType(wanted, type))
      if (!error && readHints(message.string()).some(isMeant)) ticks.wake()
    },
  })

  let lookedAt = performance.now()
  followed.add(0, name)
  const unwatch = followerAge.watch(() => (performance.now() - lookedAt) / 1000, name)

  const watching = watchLag({
    feed,
    place: () => readPlace(sql, name),
    lag: followerLag,
    age: followerLagAge,
    label: name,
  })

  const ticks = repeat({
    async work(stopped) {
      await retryDeadLetters(stopped)
      const more = await takePage(stopped)
      lookedAt = performance.now()
      await pause(collectFor, stopped)
      return more ? 'more' : undefined
    },
    every: lookEvery,
    retryAfter,
    failed: throttled(log, `the work on events of ${service} (${name}) waits and tries again`),
  })

  // Returns whether there may be more.
  async function takePage(stopped: AbortSignal): Promise<boolean> {
    let place = await readPlace(sql, name)
    const { events: all, next, endReached } = await list(place, pageSize)
    const needed = await needWork?.(all.map(({ event }) => event!))
    const events = needed ? all.filter(({ event }) => needed.has(event!)) : all
    for (let begin = 0; begin < events.length; begin += atOnce) {
      const some = events.slice(begin, begin + atOnce)
      // Wait for all of them, even if one fails: nothing may still be at work after a stop.
      const outcomes = await Promise.allSettled(some.map((listed) => workOrGiveUp(listed, stopped)))
      if (stopped.aborted) return false
      for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
      const reached = some.at(-1)!.position!
      // Another replica was faster.
      if (!(await savePlace(sql, name, place, reached))) return true
      place = reached
    }
    await savePlace(sql, name, place, next!)
    return !endReached
  }

  async function retryDeadLetters(stopped: AbortSignal): Promise<void> {
    for (const { position, tries } of await dueDeadLetters(sql, name)) {
      const { events } = await list({ ...position, position: position.position - 1 }, 1)
      const listed = events.find((found) => found.position!.position === position.position)
      // An event that is not there any more: PostgreSQL was set back.
      if (listed) await workOrGiveUp(listed, stopped, tries)
      if (stopped.aborted) return
      if (!listed) await removeDeadLetter(sql, name, position)
    }
  }

  async function workOrGiveUp({ event, position }: ListedEvent, stopped: AbortSignal, tried = 0): Promise<void> {
    try {
      await below(span, event!.traceparent, () => handle(event!, stopped))
    } catch (error) {
      if (stopped.aborted || isAbsence(error)) throw error
      const tries = tried + 1
      await addDeadLetter(sql, name, position!, {
        tries,
        pause: Math.min(1000 * 2 ** tries, longestPause),
        reason: error,
      })
      log.error(
        { err: error, follower: name, event: event!.id, tries },
        'the work on an event failed: it is a dead letter and is tried again, and the ones behind it go on',
      )
      return
    }
    followed.add(1, name)
    if (tried > 0 && !stopped.aborted) await removeDeadLetter(sql, name, position!)
  }

  const span = { name: `follow ${name}`, kind: 'consumer', attributes: { 'roster.source': service } } as const

  function list(after: EventPosition | undefined, limit: number): Promise<ListEventsResponse> {
    return feed(
      { after, fromEnd: false, filter, limit },
      { requestId: randomUUID(), deadline: Date.now() + answerWithin },
    )
  }

  return {
    async stop() {
      hints.unsubscribe()
      unwatch()
      watching.stop()
      await ticks.stop()
    },
  }
}

/** The origin of what a service does because of this event: its actor, its request, and the event as the cause. */
export function because({ id, actor, requestId }: Event): Origin {
  return { caller: { userId: actor }, requestId, cause: id, deadline: Date.now() + patience }
}

/**
 * Whether a server or service is away. It says nothing about the event, and would make one event after the other a dead
 * letter.
 */
export function isAbsence(error: unknown): boolean {
  // Just the work of this event may take too long, and would hold up the others for ever.
  if (isCancelled(error instanceof RosterError ? error.cause : error)) return false
  return isConnectionError(error) || (error instanceof RosterError && error.code === codes.UNAVAILABLE)
}

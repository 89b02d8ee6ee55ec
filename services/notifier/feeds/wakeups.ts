import { setTimeout as sleep } from 'node:timers/promises'
import type { EventFilter, EventPosition } from '#gen/roster/feed/v1/feed'
import { type Hint, hintSubject, readHints } from '#lib/events/hints'
import { meansType, plainType } from '#lib/events/event-type'
import type { Log } from '#lib/log'
import type { Nats } from '#lib/nats/connect-nats'
import type { Service } from '#lib/process'
import { throttled } from '#lib/throttled'
import { ask, type Feeds } from './read-events.ts'

/** A caller's wait for events. */
export interface Waiting {
  /** Resolves with the services that have had events since the last time; with none at `until` (Unix milliseconds). */
  next(until: number): Promise<string[]>
  close(): void
}

export interface Wakeups extends Service {
  /** Begins to note events. A caller that looks for events after this and finds none is woken by the first one. */
  open(filter: EventFilter | undefined): Promise<Waiting>
}

interface Waiter {
  filter: EventFilter | undefined
  services: Set<string>
  wake: () => void
}

/** Milliseconds between two looks. */
const lookEvery = 1_000
/** Milliseconds for which the looks go on when no call waits: most callers come again. */
const restAfter = 30_000
/** Milliseconds in which other events may join the first one. */
const gather = 10

/**
 * Wakes the callers that wait for events. Hints by NATS announce events at once, but may be lost. So one look a second,
 * shared by all callers, goes through the events committed since.
 */
export function startWakeups({ nats, feeds, log }: { nats: Nats; feeds: Feeds; log: Log }): Wakeups {
  const waiters = new Set<Waiter>()
  const stopped = new AbortController()
  const failed = throttled(log, 'a look for events failed')
  let looking: Promise<Map<string, EventPosition>> | undefined

  const subscription = nats.connection.subscribe(hintSubject('*'), {
    callback(error, message) {
      if (!error) wake(message.subject.split('.').at(-1)!, readHints(message.string()))
    },
  })

  function wake(service: string, hints: Hint[]) {
    for (const waiter of waiters) {
      if (!hints.some((hint) => mayPass(waiter.filter, hint))) continue
      waiter.services.add(service)
      waiter.wake()
    }
  }

  async function look(name: string, after?: EventPosition): Promise<EventPosition> {
    const call = { requestId: '', deadline: Date.now() + 5 * lookEvery }
    const dataOf = { eventTypes: [] }
    const request = { after, fromEnd: after === undefined, filter: undefined, limit: 1000, dataOf }
    const { events, next } = await ask(() => feeds[name]!(request, call), Infinity)
    wake(
      name,
      events.map(({ event }) => ({ organizationId: event!.organizationId, type: plainType(event!.type) })),
    )
    return next!
  }

  // Returns the places where the looks begin. They find every event that is committed behind these.
  async function begin(): Promise<Map<string, EventPosition>> {
    const places = new Map<string, EventPosition>()
    await Promise.all(Object.keys(feeds).map(async (name) => places.set(name, await look(name))))
    void keepLooking(places)
    return places
  }

  async function keepLooking(places: Map<string, EventPosition>) {
    let restAt = Date.now() + restAfter
    while (!stopped.signal.aborted && Date.now() < restAt) {
      await sleep(lookEvery, undefined, { signal: stopped.signal }).catch(() => {})
      const looks = [...places].map(async ([name, after]) => places.set(name, await look(name, after)))
      await Promise.all(looks).catch(failed)
      if (waiters.size > 0) restAt = Date.now() + restAfter
    }
    looking = undefined
  }

  return {
    async open(filter) {
      const waiter: Waiter = { filter, services: new Set(), wake: () => {} }
      waiters.add(waiter)
      const close = () => void waiters.delete(waiter)
      const begun = (looking ??= begin())
      await begun.catch((error: unknown) => {
        if (looking === begun) looking = undefined
        close()
        throw error
      })
      return {
        close,
        async next(until) {
          const woken = Promise.withResolvers<void>()
          waiter.wake = woken.resolve
          const timer = setTimeout(woken.resolve, until - Date.now())
          if (waiter.services.size === 0 && !stopped.signal.aborted) await woken.promise
          clearTimeout(timer)
          if (waiter.services.size > 0) await sleep(gather)
          const services = [...waiter.services]
          waiter.services.clear()
          return services
        },
      }
    },
    async stop() {
      stopped.abort()
      subscription.unsubscribe()
      for (const waiter of waiters) waiter.wake()
    },
  }
}

// A hint does not have everything that a filter asks. When in doubt, wake: the caller looks once more.
function mayPass(filter: EventFilter | undefined, { organizationId, type }: Hint): boolean {
  if (!filter) return true
  if (filter.organizationId !== '' && filter.organizationId !== organizationId) return false
  return filter.eventTypes.length === 0 || filter.eventTypes.some((wanted) => meansType(wanted, type))
}

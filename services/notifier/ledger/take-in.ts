import { randomUUID } from 'node:crypto'
import type {
  EventFilter,
  EventPosition,
  ListedEvent,
  ListEventsRequest,
  ListEventsResponse as Page,
} from '#gen/roster/feed/v1/feed'
import type { Sql, Transaction } from '#lib/database/database'
import { watchLag } from '#lib/subscriptions/watch-lag'
import { plainType } from '#lib/events/event-type'
import { hintSubject } from '#lib/events/hints'
import { instance } from '#lib/instance'
import type { Log } from '#lib/log'
import type { Nats } from '#lib/nats/connect-nats'
import type { Service } from '#lib/process'
import { pause, repeat } from '#lib/repeat'
import { telemetry } from '#lib/telemetry/telemetry'
import { throttled } from '#lib/throttled'
import type { Feeds } from '../feeds/read-events.ts'
import { ended as endedType, endedSessions, noteEndedSessions } from '../logouts/ended-sessions.ts'
import type { MailJob } from '../mails/queue/mail-queue.ts'
import { intakeLag, intakeLagAge } from '../measures.ts'
import { mostWrongTries, typesWithFacts, unannouncedMails } from './mail-rows.ts'
import { portions } from './portions.ts'
import { isFor, type Receiver } from './webhook-rows.ts'

const pageSize = 500
/** Milliseconds between two looks if no hint comes. */
const lookEvery = 5000
/** Milliseconds between two looks at the least, so that events of that time share a page. */
const collectFor = 50
const retryAfter = 1000
const answerWithin = 10_000
/** The events that the ledger itself reads. */
const ownTypes = [...typesWithFacts, endedType].map(plainType)
const historyFor = 30 * 24 * 60 * 60_000

export interface TakeInOptions {
  /** The service that has the events, such as `users`. */
  service: string
  feed: Feeds[string]
  sql: Sql
  nats: Nats
  log: Log
  wake(webhookId: string): void
  /** Queues mails that the event stream does not announce. */
  queueMails(jobs: MailJob[]): void
  /** Says that sessions ended, of which applications are to be told. */
  wakeLogouts(): void
}

/**
 * Follows a service's events and queues the deliveries that they ask for. Takes in each event exactly once, even if
 * NATS or Redis fails: one transaction stores the deliveries and the place reached. Replicas may follow at the same
 * time; the faster one stores.
 */
export function startTakingIn({
  service,
  feed,
  sql,
  nats,
  log,
  wake,
  queueMails,
  wakeLogouts,
}: TakeInOptions): Service {
  // The hint only wakes. The events come from PostgreSQL.
  const hints = nats.connection.subscribe(hintSubject(service), { callback: () => ticks.wake() })

  const span = { name: 'take in events', kind: 'consumer', attributes: { 'roster.source': service } } as const

  const ticks = repeat({
    async work(stopped) {
      const more = await takeIn()
      await pause(collectFor, stopped)
      return more ? 'more' : undefined
    },
    every: lookEvery,
    retryAfter,
    failed: throttled(log, `the intake of events of ${service} failed and tries again`),
  })

  // The events that are still to come were added after this time. Once PostgreSQL's clock was set back, they bear an
  // earlier one, from before a webhook was added.
  let addedAfter = new Date(0)
  // A webhook wanted an event of the last page.
  let wantsData = false

  const place = async () => (await readPlace(sql, service)).reached
  const begin = async () => recently((await readPlace(sql, service)).now)
  const watching = watchLag({ feed, place, begin, lag: intakeLag, age: intakeLagAge, label: service })

  // Most instances have few webhooks. So the page has the data that the ledger itself needs, and is read again with all
  // data where a webhook wants an event of it.
  async function readPage(
    request: ListEventsRequest,
    hasData: boolean,
  ): Promise<{ page: Page; receivers: Receiver[] }> {
    const call = { requestId: randomUUID(), deadline: Date.now() + answerWithin }
    const page = await feed(hasData ? request : { ...request, dataOf: { eventTypes: ownTypes } }, call)
    if (page.events.length === 0) return { page, receivers: [] }
    const owners = new Set([instance.id, ...page.events.map(({ event }) => event!.organizationId)])
    // After the events were read, so that a webhook older than an event is among them.
    const receivers = await sql<Receiver[]>`select * from webhooks where organization_id = any(${[...owners]})`
    wantsData = page.events.some(({ event }) => receivers.some((receiver) => isFor(receiver, event!, addedAfter)))
    return wantsData && !hasData ? readPage(request, true) : { page, receivers }
  }

  // Returns whether there may be more.
  async function takeIn(): Promise<boolean> {
    const { reached, now } = await readPlace(sql, service)
    const { page, receivers } = await readPage(reached ? next(reached) : first(now), wantsData)
    const passed = [addedAfter, ...page.events.map(({ event }) => event!.time!), ...(page.endReached ? [now] : [])]
    if (page.events.length === 0 && page.endReached) {
      addedAfter = latest(passed)
      return false
    }
    // Another service must not speak for users.
    const ended = service === 'users' ? endedSessions(page.events.map(({ event }) => event!)) : []
    let was = reached
    for (const { wanted, mails, until } of portions(page.events, receivers, was, page.next!, addedAfter)) {
      const began = performance.now()
      const take = (transaction: Sql | Transaction) => transaction<[{ webhooks: string[] | null }]>`
        select take_in(
          ${service}, ${toJson(was)}::text::jsonb, ${toJson(until)}::text::jsonb,
          ${JSON.stringify(wanted)}::text::jsonb, ${JSON.stringify(mails)}::text::jsonb, ${mostWrongTries}
        ) as webhooks
      `
      // With the first portion: noted twice, an end has one delivery.
      const takesEnds = ended.length > 0 && was === reached
      const [taken] = takesEnds ? await sql.begin((transaction) => takeWith(transaction, take, ended)) : await take(sql)
      // Another replica was faster.
      if (!taken.webhooks) return true
      for (const traceparent of tracesOf(page.events, wanted))
        telemetry.tracing?.add(span, traceparent, began, performance.now())
      for (const webhookId of taken.webhooks) wake(webhookId)
      was = until
    }
    if (ended.length > 0) wakeLogouts()
    addedAfter = latest(passed)
    const unannounced = unannouncedMails(
      page.events.map(({ event }) => event!),
      now,
    )
    if (unannounced.length > 0) queueMails(unannounced)
    return !page.endReached
  }

  return {
    async stop() {
      hints.unsubscribe()
      watching.stop()
      await ticks.stop()
    },
  }
}

async function takeWith<Taken extends [{ webhooks: string[] | null }]>(
  transaction: Transaction,
  take: (transaction: Transaction) => PromiseLike<Taken>,
  ended: ReturnType<typeof endedSessions>,
): Promise<Taken> {
  const taken = await take(transaction)
  if (taken[0].webhooks) await noteEndedSessions(transaction, ended)
  return taken
}

function latest(times: Date[]): Date {
  return times.reduce((one, other) => (one < other ? other : one))
}

// Of the events that a webhook wants.
function tracesOf(events: ListedEvent[], wanted: { event_id: string }[]): string[] {
  if (!telemetry.tracing || !events.some(({ event }) => event!.traceparent)) return []
  const ids = new Set(wanted.map(({ event_id }) => event_id))
  return events.flatMap(({ event }) => (event!.traceparent && ids.has(event!.id) ? [event!.traceparent] : []))
}

function toJson(place: EventPosition | undefined): string | null {
  return place ? JSON.stringify({ transaction_id: place.transactionId, position: place.position }) : null
}

// With the time of PostgreSQL.
async function readPlace(sql: Sql, service: string): Promise<{ reached: EventPosition | undefined; now: Date }> {
  const [row] = await sql<[{ transactionId: string | null; position: string | null; now: Date }]>`
    select transaction_id::text as "transactionId", position, roster_now() as now
    from (select) always left join cursors on service = ${service}
  `
  const { transactionId, position, now } = row
  if (transactionId === null) return { reached: undefined, now }
  return { reached: { transactionId: Number(transactionId), position: Number(position) }, now }
}

function next(after: EventPosition): ListEventsRequest {
  return { after, fromEnd: false, filter: undefined, limit: pageSize }
}

function first(now: Date): ListEventsRequest {
  return { after: undefined, fromEnd: false, filter: recently(now), limit: pageSize }
}

// The ledger keeps nothing of older events.
function recently(now: Date): EventFilter {
  const since = new Date(now.getTime() - historyFor)
  return { organizationId: '', aggregateTypes: [], aggregateIds: [], eventTypes: [], actors: [], since }
}

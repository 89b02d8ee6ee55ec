import { startMoreNats } from './more-nats.ts'
import { testServers } from './servers.ts'
import { expect, vi } from 'vitest'
import type { EventPosition } from '#gen/roster/feed/v1/feed'
import { createDatabase } from './database.ts'
import type { Servers } from '../../deploy/local/servers.ts'
import { type PublishedEvent, readEvent } from '#lib/events/cloud-event'
import { keepRecentEvents, type RecentEvents } from '#lib/events/recent-events'
import { streamName } from '#lib/events/stream'
import { startTestKeeper } from './keeper.ts'
import { testMessages } from './event-messages.ts'
import type { Waits } from '#lib/health/waits'
import type { Log } from '#lib/log'
import { connectNats, type Nats } from '#lib/nats/connect-nats'
import type { Sql } from '#lib/database/database'
import { createFeed } from '#lib/subscriptions/feed'
import { startOutbox, type Outbox } from '#lib/outbox/start-outbox'
import { type Cable, layCable } from './cable.ts'
import { openReplica, type Replica, silent } from './counters.ts'

/** Two replicas of a service, each with its outbox, over their own database and NATS server. */
export interface Publishing {
  servers: Servers
  /** The replicas' way to the database. */
  cable: Cable
  replicas: [Replica, Replica]
  outboxes: [Outbox, Outbox]
  /** The servers that each outbox waits for. */
  waits: [Waits, Waits]
  /** What each outbox remembers. */
  recent: [RecentEvents, RecentEvents]
  /** The number of each outbox's queries to the database. */
  asked: [number, number]
  /** Runs before each publishing of an event. */
  beforePublish: { run: () => Promise<unknown> }
  /** Runs after the stream has acknowledged an event. If it throws, the acknowledgement is lost. */
  afterPublish: { run: () => Promise<unknown> }
  admin: Nats
  stop(): Promise<void>
}

const messages = testMessages({
  CounterAdded: ['name'],
  CounterCounted: ['by'],
  CounterRenamed: ['name'],
  CounterRemoved: [],
})

/** The ids of all events, page by page, from the feeds of both replicas alternately. Ends after `until`, at the end. */
export async function followBoth({ replicas, recent }: Publishing, until: () => boolean) {
  const feeds = replicas.map(({ sql }, index) =>
    createFeed({ service: 'users', sql, log: silent, messages, recent: recent[index]! }),
  )
  const ids: string[] = []
  let next: EventPosition | undefined
  for (let [n, isOver, isEnd] = [0, false, false]; !isOver || !isEnd; n++) {
    isOver = until()
    const page = await feeds[n % 2]!({}, { after: next, fromEnd: false, filter: undefined, limit: 50 })
    ids.push(...page.events.map(({ event }) => event!.id))
    next = page.next
    isEnd = page.endReached
  }
  return ids
}

export async function startPublishing(log: Log = silent): Promise<Publishing> {
  const [servers, database] = await Promise.all([startOwnNats(), createDatabase()])
  const cable = await layCable(database.urls.users)
  const replicas: [Replica, Replica] = [await openReplica(cable.url), await openReplica(cable.url)]
  const connect = (url: string, service: string) => connectNats(url, service, silent)
  const admin = await connect(servers.natsUrl.admin, 'admin')
  // The tests know counters, and no person.
  const keeper = await startTestKeeper(servers.natsUrl, { users: ['counter'] })
  const connections = await Promise.all(replicas.map(() => connect(servers.natsUrl.users, 'users')))
  const asked: [number, number] = [0, 0]
  const beforePublish = { run: async () => {} }
  const afterPublish = { run: async () => {} }
  const recent: [RecentEvents, RecentEvents] = [keepRecentEvents(), keepRecentEvents()]
  const outboxes = replicas.map(({ sql }, index) =>
    startOutbox({
      recent: recent[index]!,
      service: 'users',
      sql: counting(sql, () => asked[index]!++),
      nats: intercepted(
        connections[index]!,
        () => beforePublish.run(),
        () => afterPublish.run(),
      ),
      log,
      messages,
      callerChangedBy: (event) => (event.type === 'renamed' ? event.aggregate_id : undefined),
    }),
  ) as [Outbox, Outbox]
  return {
    servers,
    cable,
    replicas,
    outboxes,
    waits: connections.map(({ waits }) => waits) as [Waits, Waits],
    recent,
    asked,
    beforePublish,
    afterPublish,
    admin,
    async stop() {
      await Promise.all(outboxes.map((outbox) => outbox.stop()))
      await keeper.stop()
      await Promise.all([admin, ...connections].map((nats) => nats.connection.close()))
      await Promise.all(replicas.map((replica) => replica.stop()))
      await cable.stop()
      await Promise.all([database.drop(), servers.stop()])
    },
  }
}

/** Starts a NATS server that the test may kill. The other servers are those of the run. */
export const startOwnNats = (): Promise<Servers> => startMoreNats(testServers())

function intercepted({ ...nats }: Nats, before: () => Promise<unknown>, after: () => Promise<unknown>): Nats {
  // A message without content only asks for a place.
  const isEvent = (subject: string, data?: unknown) => subject.startsWith('roster.events.') && data !== ''
  // Messages keep their order, however long each waits.
  let queue: Promise<unknown> = Promise.resolve()
  const queued = <T>(send: () => T): Promise<T> => {
    const sent = queue.then(before).then(send)
    queue = sent.catch(() => {})
    return sent
  }
  const ask: Nats['ask'] = (subject, ...rest) => {
    if (!isEvent(subject, rest[0])) return nats.ask(subject, ...rest)
    const publish = async () => {
      const { answer } = await queued(() => nats.ask(subject, ...rest))
      const ack = await answer
      await after()
      return ack
    }
    return { answer: publish(), fail: () => {} }
  }
  const connection = new Proxy(nats.connection, {
    get(target, key) {
      if (key !== 'publish') return Reflect.get(target, key)
      return (subject: string, ...rest: []) => {
        if (!isEvent(subject)) return target.publish(subject, ...rest)
        queued(() => target.publish(subject, ...rest)).catch(() => {})
      }
    },
  })
  return { ...nats, connection, ask }
}

/** Calls `called` for every statement and transaction. */
export function counting(sql: Sql, called: () => void): Sql {
  return new Proxy(sql, {
    apply(target, self, args) {
      const query = Reflect.apply(target, self, args) as { then?: unknown }
      // A part of another statement is never waited for. Whoever waits for a statement runs it.
      const run = query.then
      if (typeof run === 'function')
        Reflect.set(
          query,
          'then',
          (...handlers: unknown[]) => (called(), Reflect.apply(run, query, handlers) as unknown),
        )
      return query
    },
    get(target, key) {
      if (key === 'begin') return (...args: [never]) => (called(), target.begin(...args))
      if (key === 'reserve') return async () => counting(await target.reserve(), called)
      return Reflect.get(target, key)
    },
  })
}

/** Every event in the stream, first to last. */
export async function readStream({ connection }: Nats): Promise<PublishedEvent[]> {
  const manager = await connection.jetstreamManager()
  const { state } = await manager.streams.info(streamName)
  const sequences = Array.from({ length: state.last_seq - state.first_seq + 1 }, (_, index) => state.first_seq + index)
  // Some may have been removed.
  const messages = await Promise.all(
    sequences.map((seq) => manager.streams.getMessage(streamName, { seq }).catch(() => undefined)),
  )
  return messages.flatMap((found) => (found && readEvent({ headers: found.header, json: () => found.json() })) ?? [])
}

/** Waits until the stream holds every event of the database exactly once, each aggregate's in order. */
export async function everythingIsPublished({ admin, replicas }: Publishing): Promise<void> {
  const compare = async () => expect(byAggregate(await readStream(admin))).toEqual(await stored(replicas[0].sql))
  await vi.waitFor(compare, { timeout: 20_000, interval: 50 })
}

/**
 * Waits until the stream holds every event of the database. The last copies of an aggregate's events must be in order.
 */
export async function everythingIsThere({ admin, replicas }: Publishing): Promise<void> {
  const compare = async () => {
    const last = new Map<string, PublishedEvent>()
    for (const event of await readStream(admin)) {
      last.delete(event.id)
      last.set(event.id, event)
    }
    expect(byAggregate([...last.values()])).toEqual(await stored(replicas[0].sql))
  }
  await vi.waitFor(compare, { timeout: 20_000, interval: 50 })
}

/** The ids of published events by aggregate, in the order of the stream. */
export function byAggregate(events: PublishedEvent[]): Record<string, string[]> {
  return group(events.map(({ aggregateId, id }) => ({ aggregate: aggregateId, id })))
}

/** Stores an event as an older version may have stored it, without today's checks. */
export async function insertEvent(
  sql: Sql,
  event: { id: string; sequence?: number; type?: string; [column: string]: unknown },
) {
  const { id, sequence = 1, type = 'added', payload = { name: 'n' }, ...others } = event
  const row = { organization_id: 'house', creator: '', request_id: '', created_at: new Date(), ...others }
  await sql`
    insert into events ${sql({ aggregate_type: 'counter', aggregate_id: id, sequence, type, payload: sql.json(payload as never), ...row } as never)}
  `
}

async function stored(sql: Sql): Promise<Record<string, string[]>> {
  return group(
    await sql<{ aggregate: string; id: string }[]>`
      select aggregate_id as aggregate, 'users-' || position as id from events order by aggregate_id, sequence
    `,
  )
}

function group(rows: { aggregate: string; id: string }[]): Record<string, string[]> {
  const groups: Record<string, string[]> = {}
  for (const { aggregate, id } of rows) (groups[aggregate] ??= []).push(id)
  return groups
}

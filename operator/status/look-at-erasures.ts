import { streamName } from '#lib/events/stream'
import type { ChainPlace } from '#lib/audit-log/page'
import type { Fragment, Sql } from '#lib/database/database'
import type { System } from '../system.ts'
import type { Attempts } from './attempts.ts'
import { type Backlog, backlogOf } from './backlog.ts'

const names = {
  stream: 'the stream',
  deliveries: 'the deliveries of the notifier',
  statistics: 'the statistics of PostgreSQL',
}

/** Removed users whom these stores may still identify. */
export type Erasures = Partial<Record<keyof typeof names, Backlog>>

/** Each of these stores with its name. */
export function storesToClean(backlogs: Erasures): (Backlog & { store: string })[] {
  return (Object.entries(backlogs) as [keyof typeof names, Backlog][]).map(([store, backlog]) => {
    return { store: names[store], ...backlog }
  })
}

/**
 * Looks whether the stores were cleaned after the removals of users, or of this one. Leaves out those that cannot be
 * looked at.
 */
export async function lookAtErasures(system: System, { at, inService }: Attempts, userId?: string): Promise<Erasures> {
  const [since, place] = await Promise.all([
    at('stream', () => startOfStream(system)),
    inService('notifier', placeOfNotifier),
  ])
  const look = (waits: (sql: Sql) => Fragment) =>
    inService('users', (sql) => {
      const isMeant = userId === undefined ? sql`true` : sql`user_id = ${userId}`
      const rows = sql`select removed_at from forgettings f, published where forget_at is null and ${isMeant} and ${waits(sql)}`
      return backlogOf(sql, rows)
    })
  const [stream, deliveries, statistics] = await Promise.all([
    since && look((sql) => notInStream(sql, since)),
    // Before it has begun, it has no deliveries, and gets nothing personal of the user any more.
    place === null ? { waiting: 0, seconds: 0 } : place && look((sql) => notInDeliveries(sql, place)),
    look((sql) => sql`statistics_at is null`),
  ])
  return { ...(stream && { stream }), ...(deliveries && { deliveries }), ...(statistics && { statistics }) }
}

// Where the stream was lost, it gets the events of that age again.
function notInStream(sql: Sql, since: Date): Fragment {
  return sql`(stream_at is null or stream_generation is distinct from generation and removed_at > ${since})`
}

// The notifier strips the deliveries in the transaction in which it takes in the removal. So its place decides. No
// removal is committed an hour after its time.
function notInDeliveries(sql: Sql, { transactionId, position }: ChainPlace): Fragment {
  return sql`
    removed_at > coalesce((select created_at - interval '1 hour' from events where position = ${position}), '-infinity')
    and (
      select (transaction_id, position) > (${transactionId}::xid8, ${position}) from events e
      where e.aggregate_type = 'user' and e.aggregate_id = f.user_id order by sequence desc limit 1
    )
  `
}

// Since when the stream may have events. A stream that was lost gets no older ones again.
async function startOfStream(system: System): Promise<Date> {
  const { config } = await (await system.jetstream()).streams.info(streamName)
  return new Date(config.max_age > 0 ? Date.now() - config.max_age / nanosecondsPerMillisecond : 0)
}

const nanosecondsPerMillisecond = 1_000_000

// How far the notifier has taken in the events of users.
async function placeOfNotifier(sql: Sql): Promise<ChainPlace | null> {
  const [place] = await sql<ChainPlace[]>`
    select transaction_id::text as "transactionId", position::text from cursors where service = 'users'
  `
  return place ?? null
}

import { streamName } from '#lib/events/stream'
import type { ChainPlace } from '#lib/eventstore/audit/page'
import type { Sql } from '#lib/eventstore/database'
import type { System } from '../system.ts'
import type { Attempts } from './attempts.ts'
import { type Backlog, backlogOf } from './backlog.ts'

/** The stores that are cleaned after the removal of a user. Leaves out those that cannot be looked at. */
export async function lookAtForgettings(
  system: System,
  { at, inService }: Attempts,
): Promise<Partial<Record<'stream' | 'deliveries' | 'statistics', Backlog>>> {
  const [since, place] = await Promise.all([
    at('stream', () => startOfStream(system)),
    inService('notifier', async () => ({ read: await placeOfNotifier(system) })),
  ])
  const [stream, deliveries, statistics] = await Promise.all([
    since && inService('users', (sql) => inStream(sql, since)),
    place && inService('users', (sql) => inDeliveries(sql, place.read)),
    inService('users', inStatistics),
  ])
  return { ...(stream && { stream }), ...(deliveries && { deliveries }), ...(statistics && { statistics }) }
}

/** Each of these stores with its name. */
export function storesToClean(backlogs: Record<string, Backlog> | undefined): (Backlog & { store: string })[] {
  return Object.entries(backlogs ?? {}).map(([store, backlog]) => ({ store: names[store]!, ...backlog }))
}

const names: Record<string, string> = {
  stream: 'the stream',
  deliveries: 'the deliveries of the notifier',
  statistics: 'the statistics of PostgreSQL',
}

function inStream(sql: Sql, since: Date): Promise<Backlog> {
  return backlogOf(
    sql,
    sql`
      select removed_at from forgettings, published
      where forget_at is null
        and (stream_at is null or stream_generation is distinct from generation and removed_at > ${since})
    `,
  )
}

// The notifier strips the deliveries in the transaction in which it takes in the removal. So its place tells.
async function inDeliveries(sql: Sql, place: ChainPlace | undefined): Promise<Backlog> {
  if (!place) return { waiting: 0, seconds: 0 }
  // No removal is committed an hour after its time.
  return backlogOf(
    sql,
    sql`
      select removed_at from forgettings f
      where forget_at is null
        and removed_at > coalesce((select created_at - interval '1 hour' from events where position = ${place.position}), '-infinity')
        and (
          select (transaction_id, position) > (${place.transactionId}::xid8, ${place.position}) from events e
          where e.aggregate_type = 'user' and e.aggregate_id = f.user_id order by sequence desc limit 1
        )
    `,
  )
}

function inStatistics(sql: Sql): Promise<Backlog> {
  return backlogOf(sql, sql`select removed_at from forgettings where statistics_at is null and forget_at is null`)
}

/** Since when the stream may have events. A stream that was lost gets no older ones again. */
export async function startOfStream(system: System): Promise<Date> {
  const { config } = await (await system.jetstream()).streams.info(streamName)
  return new Date(config.max_age > 0 ? Date.now() - config.max_age / nanosecondsPerMillisecond : 0)
}

const nanosecondsPerMillisecond = 1_000_000

/** How far the notifier has taken in the events of users. Undefined where it has not begun. */
export async function placeOfNotifier(system: System): Promise<ChainPlace | undefined> {
  const [place] = await system.sql('notifier')<ChainPlace[]>`
    select transaction_id::text as "transactionId", position::text from cursors where service = 'users'
  `
  return place
}

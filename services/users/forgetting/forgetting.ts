import { NatsError } from 'nats'
import type { Event } from '#gen/roster/feed/v1/feed'
import { RosterError } from '#lib/errors'
import type { Sql, Write } from '#lib/eventstore/database'
import { startFollowing } from '#lib/eventstore/follow'
import { forgetInStream } from '#lib/events/forget-in-stream'
import type { Feed } from '#lib/events/own-events'
import type { Log } from '#lib/log'
import type { Nats } from '#lib/nats'
import type { Service } from '#lib/process'
import { pause } from '#lib/repeat'
import { partTypes } from './parts.ts'

/** Milliseconds between two looks whether the tail has published a removal, and how many looks there are. */
const lookEvery = 100
const looks = 20

export interface ForgettingOptions {
  sql: Sql
  nats: Nats
  log: Log
  feed: Feed<object>
}

/** A user that was removed, and until when that can be undone. */
export interface Removed {
  userId: string
  organizationId: string
  removedAt: Date
  forgetAt?: string
}

/** Begins the work that follows the removal of a user, in the transaction of the removal. */
export function beginForgetting({ userId, organizationId, removedAt, forgetAt }: Removed): Write {
  return (sql) => sql`
    insert into forgettings (user_id, organization_id, removed_at, forget_at)
    values (${userId}, ${organizationId}, ${removedAt}, ${forgetAt ?? null})
    on conflict (user_id) do update
    set removed_at = excluded.removed_at, forget_at = excluded.forget_at, statistics_at = null
  `
}

/** Ends it, because the removal was undone. */
export function endForgetting(userId: string): Write {
  return (sql) => sql`delete from forgettings where user_id = ${userId}`
}

/**
 * Follows the removals of users, and lets the keeper take their events from the stream. A replica that is killed at any
 * step leaves the rest to another one.
 */
export function startForgetting({ sql, nats, log, feed }: ForgettingOptions): Service {
  return startFollowing({
    name: 'forgetting',
    service: 'users',
    feed,
    eventTypes: ['user.removed', 'user.forgotten'],
    handle: (event, stopped) => forget({ sql, nats }, event, stopped),
    sql,
    nats,
    log,
  })
}

async function forget(
  { sql, nats }: Pick<ForgettingOptions, 'sql' | 'nats'>,
  event: Event,
  stopped: AbortSignal,
): Promise<void> {
  const { aggregateId: userId, organizationId } = event
  if (event.data?.['forgetAt'] !== undefined) return
  // Before all else: where the stream is lost meanwhile, it is cleaned again.
  const [{ generation }] = await sql<[{ generation: number }]>`select generation from published`
  await untilPublished(sql, event, stopped)
  if (!stopped.aborted) await cleanStream({ sql, nats }, { userId, organizationId, generation })
}

/** Has the keeper remove a user's events from the stream, and notes it. `generation`: that of the stream before. */
export async function cleanStream(
  { sql, nats }: Pick<ForgettingOptions, 'sql' | 'nats'>,
  { userId, organizationId, generation }: Pick<Removed, 'userId' | 'organizationId'> & { generation: number },
): Promise<void> {
  let removed = 0
  for (const type of partTypes)
    removed += await forgetInStream(nats, 'users', { organizationId, type, id: userId }).catch(away)
  await sql`
    update forgettings set stream_at = now(), stream_events = coalesce(stream_events, 0) + ${removed},
      stream_generation = ${generation}
    where user_id = ${userId}
  `
}

// Until the tail has gone past the removal, it may publish earlier events of the user.
async function untilPublished(sql: Sql, event: Event, stopped: AbortSignal): Promise<void> {
  for (let look = 0; look < looks && !stopped.aborted; look++) {
    if (await notePublished(sql, event)) return
    await pause(lookEvery, stopped)
  }
  if (!stopped.aborted) throw unavailable('The removal of a user is not published yet.')
}

// The tail commits without waiting for the disk, this statement waits, and so for the tail's commit too. Else the tail
// could begin before the removal again after a crash of PostgreSQL.
async function notePublished(sql: Sql, { id, aggregateId, organizationId, time }: Event): Promise<boolean> {
  const position = Number(id.slice(id.lastIndexOf('-') + 1))
  const { count } = await sql`
    insert into forgettings (user_id, organization_id, removed_at)
    select ${aggregateId}, ${organizationId}, ${time!}::timestamptz from events e, published p
    where e.position = ${position} and (e.transaction_id, e.position) <= (p.transaction_id, p.position)
    on conflict (user_id) do update set removed_at = excluded.removed_at
  `
  return count > 0
}

// Whoever is away is waited for. With any other answer the event is parked, and comes again after a pause.
function away(cause: unknown): never {
  throw cause instanceof NatsError ? unavailable('The keeper of the stream does not answer.', cause) : cause
}

function unavailable(message: string, cause?: unknown): RosterError {
  return new RosterError('UNAVAILABLE', 'SERVICE_UNAVAILABLE', message, { retryAfter: 1, cause })
}

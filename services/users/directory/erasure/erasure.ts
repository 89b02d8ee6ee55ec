import type { Event } from '#gen/roster/feed/v1/feed'
import type { Sql, Write } from '#lib/database/database'
import { startFollowing } from '#lib/subscriptions/follow'
import type { Feed } from '#lib/subscriptions/own-events'
import type { Log } from '#lib/log'
import type { Service } from '#lib/process'
import { startCleaningQueue } from './cleaning-queue.ts'
import { type CleanOptions, cleanStream, unavailable } from './clean-stream.ts'
import { follower, readOne } from './queue-rows.ts'

export interface ErasureOptions extends CleanOptions {
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

/** Begins the erasure (GDPR) that follows the removal of a user, in the transaction of the removal. */
export function beginErasure({ userId, organizationId, removedAt, forgetAt }: Removed): Write {
  return (sql) => sql`
    insert into forgettings (user_id, organization_id, removed_at, forget_at)
    values (${userId}, ${organizationId}, ${removedAt}, ${forgetAt ?? null})
    on conflict (user_id) do update
    set removed_at = excluded.removed_at, forget_at = excluded.forget_at, statistics_at = null
  `
}

/** Ends it, because the removal was undone. */
export function endErasure(userId: string): Write {
  return (sql) => sql`delete from forgettings where user_id = ${userId}`
}

/**
 * Lets the keeper take the events of removed users from the stream. A replica that is killed at any step leaves the
 * rest to another one. The follower adds rows for removals that have none yet, and tries again who could not be
 * cleaned.
 */
export function startErasure({ sql, nats, log, feed }: ErasureOptions): Service {
  const cleaning = startCleaningQueue({ sql, nats, log })
  const following = startFollowing({
    name: follower,
    service: 'users',
    feed,
    eventTypes: ['user.removed', 'user.forgotten'],
    async handle(event) {
      if (event.data?.['forgetAt'] !== undefined) return
      const wasDeadLetter = await isDeadLetter(sql, event)
      cleaning.wake()
      if (wasDeadLetter) await cleanDeadLetter({ sql, nats }, event.aggregateId)
    },
    atOnce: 10,
    sql,
    nats,
    log,
  })
  return {
    async stop() {
      await Promise.all([following.stop(), cleaning.stop()])
    },
  }
}

async function isDeadLetter(sql: Sql, { id }: Event): Promise<boolean> {
  const position = Number(id.slice(id.lastIndexOf('-') + 1))
  const { count } = await sql`
    select from parked_for_followers where follower = ${follower} and position = ${position}
  `
  return count > 0
}

async function cleanDeadLetter(options: CleanOptions, userId: string): Promise<void> {
  const waiting = await readOne(options.sql, userId)
  if (waiting && !waiting.isPublished) throw unavailable('The removal of a user is not published yet.')
  if (waiting) await cleanStream(options, waiting)
}

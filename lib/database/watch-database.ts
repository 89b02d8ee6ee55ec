import postgres from 'postgres'
import { roster } from '../health/release.ts'
import { watchServer } from '../telemetry/servers.ts'
import { measures } from '../telemetry/instruments.ts'
import { askOrClose } from './close-unheard.ts'
import { driverOptions } from './database-url.ts'
import { ownSchema } from './session-settings.ts'
import {
  clockOffset,
  connections,
  mostConnections,
  deadLetters,
  oldestPrepared,
  oldestTransaction,
  pendingStatements,
  outboxLag,
  outboxLagAge,
  streamAhead,
  unchained,
  unsignedAge,
} from './measures.ts'

/** Events that are counted, at most: the count must stay cheap where many wait. */
const mostCounted = 10_000
const connectWithin = 3
const answerWithin = 5000

/**
 * Measures a service's database and what of its events is on the way, until the process ends. It has a connection of
 * its own: where all others are taken, it still sees that.
 */
export function watchDatabase(url: string, service: string): void {
  if (!measures()) return
  const { url: first, ...options } = driverOptions(url, { statement_timeout: answerWithin, search_path: ownSchema })
  const sql = postgres(first, {
    ...options,
    target_session_attrs: 'read-write',
    max: 1,
    connect_timeout: connectWithin,
    backoff: false,
    onnotice: () => {},
    connection: { application_name: `roster-${service}-metrics ${roster.version}` },
  })
  let seen: Seen | undefined
  let offset = 0
  let oldestSince = new Date(0)
  watchServer('postgres', async () => {
    const asked = Date.now()
    // The server may have gone without a word.
    const [found] = await askOrClose(sql, 2 * answerWithin, () => look(sql))
    // Half of the way is the question's, and half the answer's.
    offset = (found.now.getTime() - (asked + Date.now()) / 2) / 1000
    if (found.oldest !== seen?.oldest) oldestSince = found.now
    seen = found
  })
  outboxLag.watch(() => seen?.unpublished)
  outboxLagAge.watch(() => seen && ageOf(seen.since, offset))
  unchained.watch(() => seen?.unchained)
  unsignedAge.watch(() => seen && ageOf(seen.unsigned, offset))
  deadLetters.watch(() => seen?.deadLetters, 'tail')
  deadLetters.watch(() => seen?.forFollowers, 'follower')
  streamAhead.watch(() => seen && Number(seen.ahead))
  oldestTransaction.watch(() => seen && (seen.oldest === null ? 0 : secondsBetween(oldestSince, seen.now)))
  oldestPrepared.watch(() => seen && (seen.prepared === null ? 0 : secondsBetween(seen.prepared, seen.now)))
  clockOffset.watch(() => seen && offset)
}

// By this clock, so that the age grows while PostgreSQL is silent.
function ageOf(since: Date | null, offset: number): number {
  return since ? Math.max(0, (Date.now() - since.getTime()) / 1000 + offset) : 0
}

function secondsBetween(begin: Date, end: Date): number {
  return (end.getTime() - begin.getTime()) / 1000
}

interface Seen {
  now: Date
  unpublished: number
  since: Date | null
  unchained: number
  unsigned: Date | null
  ahead: boolean
  deadLetters: number
  forFollowers: number
  /** The number of the oldest transaction that runs in any database. Only a superuser would see when it began. */
  oldest: string | null
  prepared: Date | null
}

function look(sql: postgres.Sql) {
  return sql<[Seen]>`
    with waiting as materialized (
      select created_at from events
      where (transaction_id, position) > (select transaction_id, position from published)
      order by events.transaction_id, events.position limit ${mostCounted + 1}
    )
    select clock_timestamp() as now,
      (select count(*)::int from waiting) as unpublished,
      (select min(created_at) from waiting) as since,
      (
        select count(*)::int from (
          select from events where (transaction_id, position) > (select transaction_id, position from audit_chain)
          order by events.transaction_id, events.position limit ${mostCounted + 1}
        ) next
      ) as unchained,
      (
        select created_at from events
        where (transaction_id, position) > (
          coalesce((select transaction_id from audit_checkpoints order by number desc limit 1), '0'),
          coalesce((select position from audit_checkpoints order by number desc limit 1), 0)
        )
        order by events.transaction_id, events.position limit 1
      ) as unsigned,
      (select ahead is not null from published) as ahead,
      (select count(*)::int from parked_events) as "deadLetters",
      (select count(*)::int from parked_for_followers) as "forFollowers",
      (
        select nullif(pg_snapshot_xmin(current), pg_snapshot_xmax(current))::text from pg_current_snapshot() as current
      ) as oldest,
      (select min(prepared) from pg_prepared_xacts) as prepared
  `
}

/** Measures a pool of connections. */
export function watchPool(sql: postgres.Sql, pool: 'main' | 'operations'): void {
  if (!measures()) return
  const load = (sql as postgres.Sql & { load(): Load }).load
  connections.watch(() => load().idle, pool, 'idle')
  connections.watch(() => load().used, pool, 'used')
  pendingStatements.watch(() => load().waiting, pool)
  mostConnections.watch(() => sql.options.max, pool)
}

/** The patched driver reports it: see docs/decisions/7-patched-driver.md. */
interface Load {
  idle: number
  used: number
  waiting: number
}

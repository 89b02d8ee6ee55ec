import postgres from 'postgres'
import { roster } from '../health/release.ts'
import { watchServer } from '../telemetry/servers.ts'
import { measures } from '../telemetry/instruments.ts'
import { driverOptions } from './database-url.ts'
import { ownSchema } from './session-settings.ts'
import {
  clockOffset,
  connections,
  mostConnections,
  deadLetters,
  pendingStatements,
  outboxLag,
  outboxLagAge,
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
  const { url: first, ...options } = driverOptions(url)
  const sql = postgres(first, {
    ...options,
    target_session_attrs: 'read-write',
    max: 1,
    connect_timeout: connectWithin,
    backoff: false,
    onnotice: () => {},
    connection: {
      application_name: `roster-${service}-metrics ${roster.version}`,
      statement_timeout: answerWithin,
      search_path: ownSchema,
    },
  })
  let seen: Seen | undefined
  let offset = 0
  watchServer('postgres', async () => {
    const asked = Date.now()
    const [found] = await look(sql)
    // Half of the way is the question's, and half the answer's.
    offset = (found.now.getTime() - (asked + Date.now()) / 2) / 1000
    seen = found
  })
  outboxLag.watch(() => seen?.unpublished)
  outboxLagAge.watch(() => seen && ageOf(seen.since, offset))
  unchained.watch(() => seen?.unchained)
  unsignedAge.watch(() => seen && ageOf(seen.unsigned, offset))
  deadLetters.watch(() => seen?.deadLetters, 'tail')
  deadLetters.watch(() => seen?.forFollowers, 'follower')
  clockOffset.watch(() => seen && offset)
}

// By this clock, so that the age grows while PostgreSQL is silent.
function ageOf(since: Date | null, offset: number): number {
  return since ? Math.max(0, (Date.now() - since.getTime()) / 1000 + offset) : 0
}

interface Seen {
  now: Date
  unpublished: number
  since: Date | null
  unchained: number
  unsigned: Date | null
  deadLetters: number
  forFollowers: number
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
      (select count(*)::int from parked_events) as "deadLetters",
      (select count(*)::int from parked_for_followers) as "forFollowers"
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

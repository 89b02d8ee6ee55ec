import type { Sql } from '#lib/eventstore/database'
import { longestWait } from '../verify/audit/longest-wait.ts'
import { most } from './look-at-tails.ts'

/** How far a service's audit chain goes. */
export interface ChainStatus {
  epoch: number
  /** Nothing is added, because stored events are being changed. */
  held: boolean
  /** Events that are not in the chain yet, counted to `most`, and the seconds since the oldest of them was stored. */
  waiting: number
  seconds: number
  /** Seconds since the oldest event was stored that no checkpoint signs; 0 if there is none. */
  unsigned: number
  /** Seconds that an event may wait to be signed, as far as the last checkpoints tell. */
  mayWait: number
}

/** How far the audit chain of a service goes. */
export async function lookAtChain(sql: Sql): Promise<ChainStatus> {
  const [{ times, ...row }] = await sql<[Omit<ChainStatus, 'mayWait'> & { times: number[] }]>`
    with waiting as materialized (
      select created_at from events
      where (transaction_id, position) > (select transaction_id, position from audit_chain)
      order by events.transaction_id, events.position limit ${most}
    ), unsigned as (
      select created_at from events
      where (transaction_id, position) > (
        coalesce((select transaction_id from audit_checkpoints order by number desc limit 1), '0'),
        coalesce((select position from audit_checkpoints order by number desc limit 1), 0)
      )
      order by events.transaction_id, events.position limit 1
    )
    select epoch, held, (select count(*)::int from waiting) as waiting,
      coalesce(extract(epoch from now() - (select min(created_at) from waiting)), 0)::float8 as seconds,
      coalesce(extract(epoch from now() - (select created_at from unsigned)), 0)::float8 as unsigned,
      array(select extract(epoch from signed_at)::float8 from audit_checkpoints order by number desc limit 4) as times
    from audit_chain
  `
  const pauses = times.slice(1).map((time, index) => times[index]! - time)
  const mayWait = longestWait(times.length > 0, pauses)
  return { ...row, seconds: Math.max(0, row.seconds), unsigned: Math.max(0, row.unsigned), mayWait }
}

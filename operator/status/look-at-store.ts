import type { ChainPlace } from '#lib/audit-log/page'
import type { Sql } from '#lib/database/database'
import { type Backlog, eventsAfter } from './backlog.ts'

/** How far a service's events are published. */
export interface OutboxStatus extends Backlog {
  publishedAt: Date
  parked: number
  parkedForFollowers: number
  /** Since when the stream has events that the database lacks. */
  aheadSince: string | null
}

export async function lookAtOutbox(sql: Sql): Promise<OutboxStatus> {
  const [{ place, ...row }] = await sql<[Omit<OutboxStatus, keyof Backlog> & { place: ChainPlace }]>`
    select json_build_object('transactionId', transaction_id::text, 'position', position::text) as place,
      published_at as "publishedAt", (select count(*)::int from parked_events) as parked,
      (select count(*)::int from parked_for_followers) as "parkedForFollowers", ahead ->> 'since' as "aheadSince"
    from published
  `
  return { ...(await eventsAfter(sql, place)), ...row }
}

/** How far a service's audit chain goes. What waits is not in it yet. */
export interface ChainStatus extends Backlog {
  epoch: number
  /** Nothing is added, because stored events are being changed. */
  held: boolean
  /** Events that no checkpoint signs, and seconds since the oldest of them was stored; 0 if there is none. */
  unsignedEvents: number
  unsigned: number
  /** Seconds that an event may wait to be signed. */
  mayWait: number
}

export async function lookAtChain(sql: Sql): Promise<ChainStatus> {
  const [chain] = await sql<[ChainPlace & Pick<ChainStatus, 'epoch' | 'held'>]>`
    select transaction_id::text as "transactionId", position::text, epoch, held from audit_chain
  `
  const last = await sql<(ChainPlace & { time: number })[]>`
    select transaction_id::text as "transactionId", position::text, extract(epoch from signed_at)::float8 as time
    from audit_checkpoints order by number desc limit 4
  `
  const unsigned = await eventsAfter(sql, last[0] ?? { transactionId: '0', position: '0' })
  return {
    ...(await eventsAfter(sql, chain)),
    epoch: chain.epoch,
    held: chain.held,
    unsignedEvents: unsigned.waiting,
    unsigned: unsigned.seconds,
    mayWait: longestWait(last.map(({ time }) => time)),
  }
}

/** Seconds that a checkpoint may be late. */
const patience = 600
/** No CHECKPOINT_INTERVAL is longer, and an hour of patience. */
const most = 25 * 3600

// The command does not know CHECKPOINT_INTERVAL: the shortest of the pauses between the last checkpoints stands for it.
// The first one is signed at once. A clock may have been wrong.
function longestWait(times: number[]): number {
  if (times.length === 0) return patience
  const pauses = times.slice(1).map((time, index) => times[index]! - time)
  return Math.min(3 * Math.min(...pauses.filter((pause) => pause > 0)) + patience, most)
}

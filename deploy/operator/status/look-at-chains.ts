import type { Sql } from '#lib/eventstore/database'
import type { ChainPlace } from '#lib/eventstore/audit/page'
import { longestWait } from '../verify/audit/longest-wait.ts'
import { type Backlog, eventsAfter } from './backlog.ts'

/** How far a service's audit chain goes. What waits is not in it yet. */
export interface ChainStatus extends Backlog {
  epoch: number
  /** Nothing is added, because stored events are being changed. */
  held: boolean
  /** Seconds since the oldest event was stored that no checkpoint signs; 0 if there is none. */
  unsigned: number
  /** Seconds that an event may wait to be signed, as far as the last checkpoints tell. */
  mayWait: number
}

/** How far the audit chain of a service goes. */
export async function lookAtChain(sql: Sql): Promise<ChainStatus> {
  const [chain] = await sql<[ChainPlace & Pick<ChainStatus, 'epoch' | 'held'>]>`
    select transaction_id::text as "transactionId", position::text, epoch, held from audit_chain
  `
  const last = await sql<(ChainPlace & { time: number })[]>`
    select transaction_id::text as "transactionId", position::text, extract(epoch from signed_at)::float8 as time
    from audit_checkpoints order by number desc limit 4
  `
  const waiting = await eventsAfter(sql, chain)
  const unsigned = await eventsAfter(sql, last[0] ?? { transactionId: '0', position: '0' })
  const pauses = last.slice(1).map(({ time }, index) => last[index]!.time - time)
  const mayWait = longestWait(last.length > 0, pauses)
  return { ...waiting, epoch: chain.epoch, held: chain.held, unsigned: unsigned.seconds, mayWait }
}

import { setTimeout as sleep } from 'node:timers/promises'
import type { FileRegistry } from '@bufbuild/protobuf'
import type { PubAck } from 'nats'
import { hintSubject, writeHints } from '../events/hints.ts'
import { publish, type StoredEvent } from '../events/publish.ts'
import { isIntact, type StreamState, streamState } from '../events/stream.ts'
import type { Log } from '../log.ts'
import type { Nats } from '../nats.ts'
import type { Service } from '../process.ts'
import { callersChanged } from '../rpc/caller.ts'
import type { Sql, Transaction } from './database.ts'
import type { EventRow } from './decide.ts'
import { eventColumns } from './feed-rows.ts'

const pageSize = 500
/** Milliseconds between two looks when nobody wakes the tail: another replica may have committed. */
const pollEvery = 200
/** Milliseconds between two looks at the stream when there is nothing to publish: it may have been lost or cut back. */
const inspectEvery = 2000
const retryAfter = 1000
const lock = 7_265_002

/** What tells whom an event is about. */
export type Happened = Pick<EventRow, 'aggregate_type' | 'aggregate_id' | 'type' | 'payload'>

export interface TailOptions {
  service: string
  sql: Sql
  nats: Nats
  log: Log
  /** The user whose tokens or roles an event changes, if it does. */
  callerChangedBy?: (event: Happened) => string | undefined
  /** Where the messages of the events are looked up. Default: proto/. */
  messages?: FileRegistry
}

/** A tail that publishes committed events. To be told of a commit spares it the wait for the next look. */
export interface Tail extends Service {
  committed(events: EventRow[]): void
}

/**
 * Publishes committed events to JetStream, each at least once and in commit order, and hints at them. Of several replicas one works at a time.
 * Only events below the oldest running transaction are read: what commits late is never behind the cursor. Where the stream has
 * lost what it was given, the events are published anew, from the first one that would not have come of age there.
 */
export function startTail(options: TailOptions): Tail {
  const { sql, nats, log, service } = options
  const stream = nats.connection.jetstream()
  const stopped = new AbortController()
  let woken = Promise.withResolvers<void>()
  let inspectAt = 0

  async function run() {
    while (!stopped.signal.aborted) {
      try {
        while (!stopped.signal.aborted) {
          woken = Promise.withResolvers()
          if (!(await takeTurn())) await pause()
        }
      } catch (error) {
        if (stopped.signal.aborted) return
        log.warn({ err: error }, 'the tail stopped and tries again')
        await sleep(retryAfter, undefined, { signal: stopped.signal }).catch(() => {})
      }
    }
  }

  // The lock belongs to the transaction: whoever loses its connection loses the lock too, and nothing of it is left behind on a
  // connection that others use next. Gives whether there may be more to publish.
  async function takeTurn(): Promise<boolean> {
    let over = false
    try {
      return await sql.begin((transaction) => turn(transaction, () => over))
    } finally {
      over = true
    }
  }

  async function turn(transaction: Transaction, isOver: () => boolean): Promise<boolean> {
    const [[lockRow], [published], events] = await Promise.all([
      transaction<{ leads: boolean }[]>`
        select pg_try_advisory_xact_lock(hashtextextended(current_schema(), ${lock})) as leads
      `,
      transaction<Published[]>`select * from published`,
      page(transaction),
    ])
    if (!lockRow!.leads || (events.length === 0 && Date.now() < inspectAt)) return false
    const { state, added } = await forward(events, published!)
    // The connection was lost meanwhile, and may be open again for somebody else: nothing may follow on it, not even a rollback.
    if (isOver()) return new Promise(() => {})
    if (!added) {
      if (published!.position !== '0')
        log.warn({ stream: state }, 'the stream lost events that it was given: they are published anew')
      await setBack(transaction, state)
      return true
    }
    inspectAt = Date.now() + inspectEvery
    if (events.length === 0) return false
    const last = events.at(-1)!
    // A cursor that a crash sets back costs a second publishing, which the stream drops.
    await Promise.all([
      transaction`set local synchronous_commit = off`,
      transaction`
        update published set transaction_id = ${last.transaction_id}::xid8, position = ${last.position},
          stream_sequence = ${Math.max(...added.map(({ seq }) => seq))}, published_at = now()
      `,
    ])
    return events.length === pageSize
  }

  // Looks at the stream before and after: what is published after the stream was cut back would otherwise hide it. Gives where the
  // events are, or nothing where the stream has lost some, these or earlier ones.
  async function forward(
    events: StoredEvent[],
    published: Published,
  ): Promise<{ state: StreamState; added?: PubAck[] }> {
    const { stream_created: created, stream_sequence: sequence, published_at: at, generation } = published
    const mark = { created, sequence: sequence === null ? undefined : Number(sequence), at }
    const before = await streamState(nats)
    if (!isIntact(before, mark)) return { state: before }
    if (events.length === 0) return { state: before, added: [] }
    announce(events)
    nats.connection.publish(hintSubject(service), writeHints(events))
    const added = await publish(stream, events, { service, generation, messages: options.messages })
    const state = await streamState(nats)
    return isIntact(state, mark, added) ? { state, added } : { state }
  }

  function announce(events: Happened[]) {
    for (const event of events) {
      const userId = options.callerChangedBy?.(event)
      if (userId !== undefined) nats.connection.publish(callersChanged, userId)
    }
  }

  async function pause() {
    await Promise.race([woken.promise, sleep(pollEvery, undefined, { signal: stopped.signal }).catch(() => {})])
  }

  const finished = run()
  return {
    committed(events) {
      woken.resolve()
      // At once, since a long transaction of somebody else may hold the tail up, and again by the tail, should this one be lost.
      if (nats.connected()) announce(events)
    },
    async stop() {
      stopped.abort()
      woken.resolve()
      await finished
    },
  }
}

interface Published {
  position: string
  stream_created: string
  stream_sequence: string | null
  published_at: Date
  generation: number
}

// The cursor goes back to the first event that is young enough for the stream, unless it is there already. A stream that was
// given nothing yet has lost nothing.
function setBack(transaction: Transaction, { created, maxAge }: StreamState) {
  const since = maxAge === Infinity ? new Date(0) : new Date(Date.now() - maxAge)
  return transaction`
    with too_old as (
      select transaction_id, position from events where created_at < ${since}
      order by events.transaction_id desc, events.position desc limit 1
    ), start as (
      select transaction_id, position from too_old
      union all select '0', 0 where not exists (select from too_old)
    )
    update published p set
      (transaction_id, position) = (
        select transaction_id, position from (
          select transaction_id, position from start union all select p.transaction_id, p.position
        ) candidates
        order by candidates.transaction_id, candidates.position limit 1
      ),
      stream_created = ${created},
      stream_sequence = null,
      generation = generation + (position > 0)::int
  `
}

// The subquery, unlike a join, makes the index begin at the cursor, whatever the planner thinks of the tables. The order is that
// of the columns: unqualified, it would be that of the text which is selected, where 10 comes before 9.
function page(transaction: Transaction) {
  return transaction<StoredEvent[]>`
    select ${eventColumns(transaction)}
    from events
    where (transaction_id, position) > (select transaction_id, position from published)
      and transaction_id < pg_snapshot_xmin(pg_current_snapshot())
    order by events.transaction_id, events.position
    limit ${pageSize}
  `
}

import { setTimeout as sleep } from 'node:timers/promises'
import { ensureStream, publish, type StoredEvent } from '../events/publish.ts'
import type { Log } from '../log.ts'
import type { Nats } from '../nats.ts'
import type { Service } from '../process.ts'
import type { Sql } from './database.ts'

const pageSize = 500
/** Milliseconds between two looks when nobody wakes the tail: another replica may have committed. */
const pollEvery = 200
const retryAfter = 1000
const lock = 7_265_002

/** The subject that tells every gateway whose tokens or roles changed: the message is the user's id. */
export const callersChanged = 'roster.callers.changed'

export interface TailOptions {
  service: string
  sql: Sql
  nats: Nats
  log: Log
  /** The user whose tokens or roles an event changes, if it does. */
  callerChangedBy?: (event: StoredEvent) => string | undefined
}

/** A tail that publishes committed events. `wake` after a commit spares the wait for the next look. */
export interface Tail extends Service {
  wake(): void
}

/**
 * Publishes committed events to JetStream, each at least once and in commit order. Of several replicas one works at a time.
 * Only events below the oldest running transaction are read: what commits late is never behind the cursor.
 */
export function startTail(options: TailOptions): Tail {
  const { sql, nats, log, service } = options
  const stream = nats.connection.jetstream()
  const stopped = new AbortController()
  let woken = Promise.withResolvers<void>()

  async function run() {
    while (!stopped.signal.aborted) {
      try {
        await ensureStream(nats)
        await lead()
      } catch (error) {
        if (stopped.signal.aborted) return
        log.warn({ err: error }, 'the tail stopped and tries again')
        await sleep(retryAfter, undefined, { signal: stopped.signal }).catch(() => {})
      }
    }
  }

  // The lock belongs to the connection: a leader that dies is followed at once.
  async function lead() {
    const connection = await sql.reserve()
    try {
      while (!stopped.signal.aborted) {
        const [row] = await connection<{ leads: boolean }[]>`
          select pg_try_advisory_lock(hashtextextended(current_schema(), ${lock})) as leads
        `
        if (row?.leads) break
        await pause()
      }
      // A cursor that a crash sets back costs a second publishing, which the stream drops.
      await connection`set synchronous_commit = off`
      while (!stopped.signal.aborted) {
        woken = Promise.withResolvers()
        const events = await page(connection)
        if (events.length > 0) await forward(connection, events)
        if (events.length < pageSize) await pause()
      }
      await connection`reset synchronous_commit`
      await connection`select pg_advisory_unlock_all()`
    } finally {
      connection.release()
    }
  }

  async function forward(connection: Sql, events: StoredEvent[]) {
    for (const event of events) {
      const userId = options.callerChangedBy?.(event)
      if (userId !== undefined) nats.connection.publish(callersChanged, userId)
    }
    await publish(stream, service, events)
    const last = events.at(-1)!
    await connection`update published set transaction_id = ${last.transaction_id}::xid8, position = ${last.position}`
  }

  async function pause() {
    await Promise.race([woken.promise, sleep(pollEvery, undefined, { signal: stopped.signal }).catch(() => {})])
  }

  const finished = run()
  return {
    wake: () => woken.resolve(),
    async stop() {
      stopped.abort()
      woken.resolve()
      await finished
    },
  }
}

function page(connection: Sql) {
  return connection<StoredEvent[]>`
    select e.position, e.transaction_id::text, e.aggregate_type, e.aggregate_id, e.sequence, e.type, e.payload,
      e.organization_id, e.creator, e.request_id, e.created_at
    from events e, published p
    where (e.transaction_id, e.position) > (p.transaction_id, p.position)
      and e.transaction_id < pg_snapshot_xmin(pg_current_snapshot())
    order by e.transaction_id, e.position
    limit ${pageSize}
  `
}

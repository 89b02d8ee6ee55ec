import type { FileRegistry } from '@bufbuild/protobuf'
import type { Service } from '../process.ts'
import { pause, repeat } from '../repeat.ts'
import { type AnnouncerOptions, createAnnouncer } from './announcer.ts'
import type { RecentEvents } from '../events/recent-events.ts'
import type { Sql, Transaction } from '../database/database.ts'
import { publish } from './publish.ts'
import type { PageRow } from '../eventstore/event-page.ts'
import type { EventRow, StoredEvent } from '../events/stored-event.ts'
import type { Personal } from '../encryption/personal.ts'
import { streamState } from '../events/stream.ts'
import { compareStream } from './compare-stream.ts'
import { createForward } from './forward.ts'
import { newestOf, writeMark } from './mark.ts'
import { addDeadLetters, storeTaken, removeDeadLetters, retryDeadLetters, settleRetried } from './dead-letters.ts'
import { type Elsewhere, noteOutboxWaits } from './outbox-waits.ts'
import { findUnpublished, page, pageSize, type Published, setBack } from './outbox-rows.ts'

/** Milliseconds between two polls when nothing wakes the outbox: another replica may have committed. */
const pollEvery = 200
/**
 * Milliseconds between the beginnings of two ticks at the least. Events of that time share a tick and its look at the
 * stream.
 */
const collectFor = 40
/** Milliseconds between two looks at the stream when there is nothing to publish: it may have been lost or cut back. */
const inspectEvery = 2000
const retryAfter = 1000
const lock = 7_265_002

export interface OutboxOptions extends AnnouncerOptions {
  sql: Sql
  /** Has the messages of the events. Default: proto/. */
  messages?: FileRegistry
  /** Gets the events that the outbox has read. */
  recent?: RecentEvents
  /** Opens what is encrypted. */
  personal?: Personal | undefined
}

export interface Outbox extends Service {
  /** Wakes the outbox after a commit, so that it need not wait for its next look. */
  committed(events: EventRow[]): void
  /** The number of dead letters at the last look. */
  deadLetters(): number
  /** Whether the stream has events that the database lacks, as of the last look. */
  streamIsAhead(): boolean
}

/**
 * The relay of the transactional outbox, which is the table `events`. Operators know it as the tail.
 *
 * Publishes committed events to JetStream, each at least once and in commit order, and sends hints of them. Only one of
 * several replicas works at a time.
 *
 * If the broker or proto/ refuses an event for good, the outbox makes it a dead letter: it stores it in
 * `parked_events`, logs it, and goes on with the next one.
 *
 * The outbox reads only events below the oldest running transaction, so no late commit ends up behind the cursor. If
 * the stream lost events, the outbox publishes again, from the first event that would not have expired there by now. If
 * the database lost events that the stream has, the outbox goes on behind them, and an operator decides.
 */
export function startOutbox(options: OutboxOptions): Outbox {
  const { sql, nats, log, service, recent, personal } = options
  const waits = noteOutboxWaits(options)
  const announcer = createAnnouncer(options)
  const forward = createForward(options, waits, announcer)
  let inspectAt = 0
  let deadLetters = 0
  let ahead = false
  // Whether there may be more to do than one statement finds out.
  let isWoken = true
  // The page behind one that is full, read while the stream takes that one.
  let next: NextPage | undefined

  const ticks = repeat({
    async work(stopped) {
      const began = performance.now()
      const more = await runTick()
      waits.succeeded()
      if (more) return 'more'
      await pause(collectFor - (performance.now() - began), stopped)
      return undefined
    },
    every: pollEvery,
    retryAfter,
    failed: waits.failed,
  })

  // The lock belongs to the transaction. A replica that loses its connection loses the lock too, and leaves no lock
  // behind on a connection that others use next. Returns whether there may be more to publish. Throws the reason if
  // events could not be published.
  async function runTick(): Promise<boolean> {
    let over = false
    try {
      return await waits.run(async (elsewhere) => {
        if (await nothingToDo()) return false
        const { more, failure } = await sql.begin((transaction) => tick(transaction, elsewhere, () => over))
        if (failure) throw failure.cause
        return more
      })
    } catch (error) {
      isWoken = true
      next = undefined
      recent?.clear()
      throw error
    } finally {
      over = true
    }
  }

  async function nothingToDo(): Promise<boolean> {
    const looks = isWoken || Date.now() >= inspectAt
    isWoken = false
    if (looks) return false
    const found = await findUnpublished(sql)
    deadLetters = found.deadLetters
    return !found.hasWork
  }

  async function decrypted(from: Sql | Transaction, rows: PageRow[]): Promise<Decrypted> {
    return { rows, events: personal ? await personal.decryptEvents(from, rows) : rows }
  }

  // Who fails to read it reads it again.
  function readNext(last: PageRow): NextPage {
    const read = page(sql, last)
      .then((rows) => decrypted(sql, rows))
      .catch(() => undefined)
    return { after: last, read }
  }

  async function tick(transaction: Transaction, elsewhere: Elsewhere, isOver: () => boolean): Promise<Tick> {
    const known = next
    next = undefined
    const [[lockRow], [published], first] = await Promise.all([
      transaction<{ leads: boolean }[]>`
        select pg_try_advisory_xact_lock(hashtextextended(current_schema(), ${lock})) as leads
      `,
      transaction<Published[]>`
        select *, transaction_id::text, compared_on is distinct from pg_postmaster_start_time() as "toCompare"
        from published,
          (select count(*)::int as "deadLetters", count(*) filter (where retry)::int as retried from parked_events) counted
      `,
      known ? undefined : page(transaction),
    ])
    deadLetters = published!.deadLetters
    ahead = published!.ahead !== null
    const { retried: toRetry, generation, message_key: key } = published!
    if (!lockRow!.leads) waits.streamIsThere()
    if (!lockRow!.leads) return nothing
    if (published!.toCompare) {
      const { own, last, created } = await elsewhere(streamState(nats, service))
      if (isOver()) return new Promise(() => {})
      if (own !== undefined) {
        await compareStream(transaction, log, { service, published: published!, own, last, created })
        return { more: true }
      }
    }
    const isNext =
      known?.after.transaction_id === published!.transaction_id && known.after.position === published!.position
    const { rows: all, events } =
      (isNext ? await known.read : undefined) ?? (await decrypted(transaction, first ?? (await page(transaction))))
    if (all.length === 0 && toRetry === 0 && Date.now() < inspectAt) return nothing
    if (all.length > 0) recent?.add(published!, all, Number(all.at(-1)!.before))
    if (all.at(-1)?.found === pageSize) next = readNext(all.at(-1)!)
    const again = (deadOnes: StoredEvent[]) =>
      elsewhere(publish(nats, deadOnes, { service, generation, key, messages: options.messages }))
    const retried = toRetry > 0 ? await retryDeadLetters(transaction, personal, again) : []
    const { state, added = [], refused = [], failure } = await elsewhere(forward(events, published!))
    // The connection was lost meanwhile. It may be open again for somebody else, so send nothing more on it, not even a
    // rollback.
    if (isOver()) return new Promise(() => {})
    await settleRetried(transaction, retried)
    if (state) {
      if (published!.position !== '0')
        log.warn({ stream: state }, 'the stream lost events that it was given: they are published anew')
      await setBack(transaction, state)
      return { more: true }
    }
    if (failure) {
      waits.streamIsAway(failure.cause)
      await Promise.all([addDeadLetters(transaction, log, refused), storeTaken(transaction, added)])
      return { more: false, failure }
    }
    waits.streamIsThere()
    inspectAt = Date.now() + inspectEvery
    if (all.length === 0) return nothing
    const last = all.at(-1)!
    const newest = newestOf(added)
    const event = all.find(({ position }) => position === newest?.position)
    const mark = newest && event ? writeMark(service, published!, event, newest.seq) : null
    // If a crash sets the cursor back, the outbox publishes events twice, and the stream drops the second ones.
    await Promise.all([
      transaction`set local synchronous_commit = off`,
      addDeadLetters(transaction, log, refused),
      deadLetters > 0 && removeDeadLetters(transaction, added),
      transaction`
        update published set transaction_id = ${last.transaction_id}::xid8, position = ${last.position},
          stream_sequence = greatest(stream_sequence, ${newest?.seq ?? null}),
          stream_mark = coalesce(${mark}::text::jsonb, stream_mark),
          taken = '{}', in_doubt = false, published_at = roster_now()
      `,
    ])
    return { more: last.found === pageSize || all.length < last.found }
  }

  return {
    committed(events) {
      isWoken = true
      ticks.wake()
      // At once: a long transaction of somebody else may hold the outbox up. The outbox announces them again, should
      // this be lost.
      if (nats.connected()) announcer.callers(events)
    },
    deadLetters: () => deadLetters,
    streamIsAhead: () => ahead,
    stop: () => ticks.stop(),
  }
}

/** A page as it is stored, and with what is personal in it. */
interface Decrypted {
  rows: PageRow[]
  events: PageRow[]
}

interface NextPage {
  after: PageRow
  read: Promise<Decrypted | undefined>
}

/** The outcome of a tick: whether there may be more, and the reason if events could not be published. */
interface Tick {
  more: boolean
  failure?: { cause: unknown } | undefined
}

const nothing: Tick = { more: false }

import type { FileRegistry } from '@bufbuild/protobuf'
import type { PubAck } from 'nats'
import { publish } from '../events/publish.ts'
import { publishing } from '../events/spans.ts'
import { isIntact, streamName, type StreamState, streamState } from '../events/stream.ts'
import type { Service } from '../process.ts'
import { pause, repeat } from '../repeat.ts'
import { type AnnouncerOptions, createAnnouncer } from '../events/announcer.ts'
import type { RecentEvents } from '../events/recent-events.ts'
import type { Sql, Transaction } from './database.ts'
import type { EventRow } from '../events/stored-event.ts'
import { published as publishedEvents } from './measures.ts'
import type { Personal } from './personal/personal.ts'
import { noteTaken, type Refused, saveParked, unpark } from './parked.ts'
import { retryParked, settleRetried } from './retry-parked.ts'
import { telemetry } from '../telemetry/telemetry.ts'
import { noteTailWaits } from './tail-waits.ts'
import { findUnpublished, page, type PageRow, pageSize, type Published, setBack } from './tail-rows.ts'

/**
 * Milliseconds after which the stream may no longer know that it has an event. It remembers twice as long; half of that
 * is left to clocks that differ.
 */
const knownFor = 60_000
/** Milliseconds between two looks when nobody wakes the tail: another replica may have committed. */
const pollEvery = 200
/**
 * Milliseconds between the beginnings of two turns at the least. Events of that time share a turn and its look at the
 * stream.
 */
const collectFor = 40
/** Milliseconds between two looks at the stream when there is nothing to publish: it may have been lost or cut back. */
const inspectEvery = 2000
/** Milliseconds for which the look at the stream after a turn also counts as the look before the next turn. */
const trustFor = 200
const retryAfter = 1000
const lock = 7_265_002

export interface TailOptions extends AnnouncerOptions {
  sql: Sql
  /** Has the messages of the events. Default: proto/. */
  messages?: FileRegistry
  /** Gets the events that the tail has read. */
  recent?: RecentEvents
  /** Opens what is sealed. */
  personal?: Personal | undefined
}

export interface Tail extends Service {
  /** Tells the tail of a commit, so that it need not wait for its next look. */
  committed(events: EventRow[]): void
  /** The number of parked events at the last look. */
  parked(): number
}

/**
 * Publishes committed events to JetStream, each at least once and in commit order, and sends hints of them. Only one of
 * several replicas works at a time.
 *
 * If the broker or proto/ refuses an event for good, the tail parks it. It notes the event in `parked_events`, logs
 * it, and goes on with the next one.
 *
 * The tail reads only events below the oldest running transaction, so no late commit ends up behind the cursor. If the
 * stream lost events, the tail publishes again, from the first event that would not have expired there by now.
 */
export function startTail(options: TailOptions): Tail {
  const { sql, nats, log, service, recent, personal } = options
  const waits = noteTailWaits(options)
  const announcer = createAnnouncer(options)
  let inspectAt = 0
  let intactAt = 0
  let parked = 0
  // Whether there may be more to do than one statement finds out.
  let isWoken = true

  const turns = repeat({
    async work(stopped) {
      const began = performance.now()
      const more = await takeTurn()
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
  async function takeTurn(): Promise<boolean> {
    let over = false
    try {
      if (await nothingToDo()) return false
      const { more, failure } = await sql.begin((transaction) => turn(transaction, () => over))
      if (failure) throw failure.cause
      return more
    } catch (error) {
      isWoken = true
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
    const found = await waits.inTime(findUnpublished(sql))
    parked = found.parked
    return !found.hasWork
  }

  async function turn(transaction: Transaction, isOver: () => boolean): Promise<Turn> {
    const asked = Promise.all([
      transaction<{ leads: boolean }[]>`
        select pg_try_advisory_xact_lock(hashtextextended(current_schema(), ${lock})) as leads
      `,
      transaction<Published[]>`
        select *, transaction_id::text from published,
          (select count(*)::int as parked, count(*) filter (where retry)::int as retried from parked_events) counted
      `,
      page(transaction),
    ])
    const [[lockRow], [published], all] = await waits.inTime(asked)
    parked = published!.parked
    const { retried: toRetry, generation, message_key: key } = published!
    if (!lockRow!.leads) waits.streamIsThere()
    if (!lockRow!.leads || (all.length === 0 && toRetry === 0 && Date.now() < inspectAt)) return nothing
    if (all.length > 0) recent?.add(published!, all, Number(all.at(-1)!.before))
    const events = personal ? await waits.inTime(personal.openEvents(transaction, all)) : all
    const again = { service, generation, key, messages: options.messages, personal }
    const retried = toRetry > 0 ? await retryParked(transaction, nats, again) : []
    const { state, added = [], refused = [], failure } = await forward(events, published!)
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
      await Promise.all([park(transaction, refused), noteTaken(transaction, added)])
      return { more: false, failure }
    }
    waits.streamIsThere()
    inspectAt = Date.now() + inspectEvery
    if (all.length === 0) return nothing
    const last = all.at(-1)!
    const newest = added.length > 0 ? Math.max(...added.map(({ seq }) => seq)) : null
    // If a crash sets the cursor back, the tail publishes events twice, and the stream drops the second ones.
    await Promise.all([
      transaction`set local synchronous_commit = off`,
      park(transaction, refused),
      parked > 0 && unpark(transaction, added),
      transaction`
        update published set transaction_id = ${last.transaction_id}::xid8, position = ${last.position},
          stream_sequence = greatest(stream_sequence, ${newest}),
          taken = '{}', in_doubt = false, published_at = now()
      `,
    ])
    return { more: last.found === pageSize || all.length < last.found }
  }

  // Looks at the stream before and after publishing; only after, if the last look was a moment ago. The stream must
  // still have the events of before: else the tail publishes those again first. Returns the places of the events, and
  // the events that were refused. Or the reason why some events may not be there. Or the state of a stream that lost
  // events.
  async function forward(all: PageRow[], published: Published): Promise<Forwarded> {
    const { generation, in_doubt, message_key: key } = published
    const taken = all.flatMap((event) => {
      const seq = published.taken[event.position]
      return seq === undefined ? [] : [{ event, seq }]
    })
    const events = all.filter(({ position }) => published.taken[position] === undefined)
    const sequence = Math.max(Number(published.stream_sequence ?? 0), ...taken.map(({ seq }) => seq)) || undefined
    const mark = { created: published.stream_created, sequence, at: published.published_at }
    const earlier = taken.map(({ event, seq }) => ({
      stream: streamName,
      position: event.position,
      seq,
      duplicate: true,
    }))
    if (events.length === 0 || Date.now() - intactAt > trustFor) {
      const state = await streamState(nats).catch((cause: unknown) => {
        waits.streamIsAway(cause)
        throw cause
      })
      if (!isIntact(state, mark)) return { state }
    }
    if (events.length === 0) return { added: earlier }
    announcer.callers(events)
    announcer.hint(events)
    const began = Date.now()
    const old = began - knownFor
    const outcomes = await publish(nats, events, {
      service,
      generation,
      key,
      messages: options.messages,
      floor: Number(published.stream_sequence ?? published.stream_floor),
      taken,
      inDoubt: ({ created_at }) => in_doubt || created_at.getTime() < old,
    })
    const ended = Date.now()
    const [added, refused, failures]: [Added[], Refused[], { cause: unknown }[]] = [earlier, [], []]
    for (const [index, outcome] of outcomes.entries()) {
      const event = events[index]!
      if ('ack' in outcome) {
        added.push({ ...outcome.ack, position: event.position })
        if (!outcome.ack.duplicate) publishedEvents.add(1)
        if (event.traceparent) telemetry.tracing?.add(publishing, event.traceparent, began, ended)
      } else if ('refused' in outcome) refused.push({ event, reason: outcome.refused })
      else failures.push({ cause: outcome.failed })
    }
    try {
      const state = await streamState(nats)
      if (!isIntact(state, mark, added)) return { state }
      intactAt = Date.now()
    } catch (cause) {
      failures.push({ cause })
    }
    return { added, refused, failure: failures[0] }
  }

  async function park(transaction: Transaction, refused: Refused[]) {
    for (const { event, reason } of await saveParked(transaction, refused)) {
      const { position, aggregate_type, aggregate_id, sequence, type } = event
      log.error(
        { err: reason, position, aggregate_type, aggregate_id, sequence, type },
        'an event was refused for good: it is parked, and the ones behind it go on',
      )
    }
  }

  return {
    committed(events) {
      isWoken = true
      turns.wake()
      // At once: a long transaction of somebody else may hold the tail up. The tail announces them again, should this
      // be lost.
      if (nats.connected()) announcer.callers(events)
    },
    parked: () => parked,
    stop: () => turns.stop(),
  }
}

/** The outcome of a turn: whether there may be more, and the reason if events could not be published. */
interface Turn {
  more: boolean
  failure?: { cause: unknown } | undefined
}

const nothing: Turn = { more: false }

type Added = PubAck & { position: string }

interface Forwarded {
  added?: Added[]
  refused?: Refused[]
  failure?: { cause: unknown } | undefined
  /** Set if the stream lost events. */
  state?: StreamState
}

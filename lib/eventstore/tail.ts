import { setTimeout as sleep } from 'node:timers/promises'
import type { FileRegistry } from '@bufbuild/protobuf'
import type { PubAck } from 'nats'
import { publish } from '../events/publish.ts'
import { isIntact, streamName, type StreamState, streamState } from '../events/stream.ts'
import type { Log } from '../log.ts'
import type { Nats } from '../nats.ts'
import type { Service } from '../process.ts'
import { callersChanged, hintSubject, writeHints } from '../events/hints.ts'
import type { Sql, Transaction } from './database.ts'
import type { EventRow } from '../events/stored-event.ts'
import { noteTaken, type Refused, saveParked, unpark } from './parked.ts'
import { page, type PageRow, pageSize, type Published, setBack } from './tail-rows.ts'

/** Milliseconds after which an event that was sent before may be unknown to the stream: half its duplicate window, for the clocks. */
const knownFor = 60_000
/** Milliseconds between two looks when nobody wakes the tail: another replica may have committed. */
const pollEvery = 200
/** Milliseconds from the beginning of a turn to the next, at the least: events of that time share one turn and its look at the stream. */
const collectFor = 40
/** Milliseconds between two looks at the stream when there is nothing to publish: it may have been lost or cut back. */
const inspectEvery = 2000
/** Milliseconds for which a look at the stream counts for the next turn. */
const trustFor = 200
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
  /** How many events were refused for good and passed by, when it looked last. */
  parked(): number
}

/**
 * Publishes committed events to JetStream, each at least once and in commit order, and hints at them. Of several replicas one works at a time.
 * What the broker or proto/ refuses for good is parked: noted in `parked_events`, logged, and passed by.
 * Only events below the oldest running transaction are read: what commits late is never behind the cursor. Where the stream has
 * lost what it was given, the events are published anew, from the first one that would not have come of age there.
 */
export function startTail(options: TailOptions): Tail {
  const { sql, nats, log, service } = options
  const stopped = new AbortController()
  let woken = Promise.withResolvers<void>()
  let inspectAt = 0
  let intactAt = 0
  let parked = 0

  async function run() {
    while (!stopped.signal.aborted) {
      try {
        while (!stopped.signal.aborted) {
          woken = Promise.withResolvers()
          const began = performance.now()
          if (await takeTurn()) continue
          await pause()
          await pauseFor(collectFor - (performance.now() - began))
        }
      } catch (error) {
        if (stopped.signal.aborted) return
        log.warn({ err: error }, 'the tail stopped and tries again')
        await sleep(retryAfter, undefined, { signal: stopped.signal }).catch(() => {})
      }
    }
  }

  // The lock belongs to the transaction: whoever loses its connection loses the lock too, and nothing of it is left behind on a
  // connection that others use next. Gives whether there may be more to publish; throws what kept events from being published.
  async function takeTurn(): Promise<boolean> {
    let over = false
    try {
      const { more, failure } = await sql.begin((transaction) => turn(transaction, () => over))
      if (failure) throw failure.cause
      return more
    } finally {
      over = true
    }
  }

  async function turn(transaction: Transaction, isOver: () => boolean): Promise<Turn> {
    const [[lockRow], [published], all] = await Promise.all([
      transaction<{ leads: boolean }[]>`
        select pg_try_advisory_xact_lock(hashtextextended(current_schema(), ${lock})) as leads
      `,
      transaction<Published[]>`select *, (select count(*)::int from parked_events) as parked from published`,
      page(transaction),
    ])
    parked = published!.parked
    if (!lockRow!.leads || (all.length === 0 && Date.now() < inspectAt)) return nothing
    const { state, added = [], refused = [], failure } = await forward(all, published!)
    // The connection was lost meanwhile, and may be open again for somebody else: nothing may follow on it, not even a rollback.
    if (isOver()) return new Promise(() => {})
    if (state) {
      if (published!.position !== '0')
        log.warn({ stream: state }, 'the stream lost events that it was given: they are published anew')
      await setBack(transaction, state)
      return { more: true }
    }
    if (failure) {
      await Promise.all([park(transaction, refused), noteTaken(transaction, added)])
      return { more: false, failure }
    }
    inspectAt = Date.now() + inspectEvery
    if (all.length === 0) return nothing
    const last = all.at(-1)!
    // A cursor that a crash sets back costs a second publishing, which the stream drops.
    await Promise.all([
      transaction`set local synchronous_commit = off`,
      park(transaction, refused),
      parked > 0 && unpark(transaction, added),
      transaction`
        update published set transaction_id = ${last.transaction_id}::xid8, position = ${last.position},
          stream_sequence = greatest(stream_sequence, ${added.length > 0 ? Math.max(...added.map(({ seq }) => seq)) : null}),
          taken = '{}', in_doubt = false, published_at = now()
      `,
    ])
    return { more: last.found === pageSize || all.length < last.found }
  }

  // Looks at the stream before and after, or after alone where it has just looked: what it was given before must still be there, and
  // nothing may come before that is published anew. Gives where the events are and which were refused; why some are not known to be
  // there; or the state of a stream that has lost some.
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
      const state = await streamState(nats)
      if (!isIntact(state, mark)) return { state }
    }
    if (events.length === 0) return { added: earlier }
    announce(events)
    tell(hintSubject(service), writeHints(events))
    const old = Date.now() - knownFor
    const outcomes = await publish(nats, events, {
      service,
      generation,
      key,
      messages: options.messages,
      floor: Number(published.stream_sequence ?? published.stream_floor),
      taken,
      inDoubt: ({ created_at }) => in_doubt || created_at.getTime() < old,
    })
    const [added, refused, failures]: [Added[], Refused[], { cause: unknown }[]] = [earlier, [], []]
    for (const [index, outcome] of outcomes.entries()) {
      const event = events[index]!
      if ('ack' in outcome) added.push({ ...outcome.ack, position: event.position })
      else if ('refused' in outcome) refused.push({ event, reason: outcome.refused })
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

  function announce(events: Happened[]) {
    for (const event of events) {
      const userId = options.callerChangedBy?.(event)
      if (userId !== undefined) tell(callersChanged, userId)
    }
  }

  // Whoever misses this looks later, so it holds nothing up.
  function tell(subject: string, text: string) {
    try {
      nats.connection.publish(subject, text)
    } catch (error) {
      log.warn({ err: error, subject }, 'what happened could not be told')
    }
  }

  async function pause() {
    await Promise.race([woken.promise, pauseFor(pollEvery)])
  }

  async function pauseFor(milliseconds: number) {
    if (milliseconds > 0) await sleep(milliseconds, undefined, { signal: stopped.signal }).catch(() => {})
  }

  const finished = run()
  return {
    committed(events) {
      woken.resolve()
      // At once, since a long transaction of somebody else may hold the tail up, and again by the tail, should this one be lost.
      if (nats.connected()) announce(events)
    },
    parked: () => parked,
    async stop() {
      stopped.abort()
      woken.resolve()
      await finished
    },
  }
}

/** What came of a turn: whether there may be more, and what kept events from being published. */
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
  /** Of a stream that lost events. */
  state?: StreamState
}

import type { FileRegistry } from '@bufbuild/protobuf'
import type { PubAck } from 'nats'
import type { createAnnouncer } from './announcer.ts'
import { lastPlace } from './into-stream.ts'
import { publish } from './publish.ts'
import { publishing } from '../events/spans.ts'
import { isIntact, type Mark, streamName, type StreamState, streamState } from '../events/stream.ts'
import type { Nats } from '../nats/connect-nats.ts'
import { telemetry } from '../telemetry/telemetry.ts'
import { published as publishedEvents } from './measures.ts'
import type { Refused } from './dead-letters.ts'
import type { Published } from './outbox-rows.ts'
import type { PageRow } from '../eventstore/event-page.ts'
import { lastMark } from './mark.ts'
import type { OutboxWaits } from './outbox-waits.ts'

/**
 * Milliseconds after which the stream may no longer know that it has an event. It remembers twice as long; half of that
 * is left to clocks that differ.
 */
const knownFor = 60_000
/** Milliseconds for which the look at the stream after a tick also counts as the look before the next tick. */
const trustFor = 200

/**
 * Brings a page of events to the stream. Looks at the stream before and after; only after, if the last look was a
 * moment ago. The stream must still have the events of before: else the outbox publishes those again first.
 */
export type Forward = (all: PageRow[], published: Published) => Promise<Forwarded>

/** The places of the events, and the events that were refused. Or the reason why some events may not be there. */
export interface Forwarded {
  added?: (PubAck & { position: string })[]
  refused?: Refused[]
  failure?: { cause: unknown } | undefined
  /** Set if the stream lost events. */
  state?: StreamState
}

/** Opens the way of an outbox into the stream. */
export function createForward(
  { service, nats, messages }: { service: string; nats: Nats; messages?: FileRegistry },
  waits: Pick<OutboxWaits, 'streamIsAway'>,
  announcer: ReturnType<typeof createAnnouncer>,
): Forward {
  let intactAt = 0

  return async (all, published) => {
    const { generation, in_doubt, message_key: key } = published
    const taken = all.flatMap((event) => {
      const seq = published.taken[event.position]
      return seq === undefined ? [] : [{ event, seq }]
    })
    const events = all.filter(({ position }) => published.taken[position] === undefined)
    const { sequence, subject } = lastMark(service, published, taken)
    const mark = { created: published.stream_created, sequence, at: published.published_at }
    // On its way before the events: one of them may have the same subject.
    const found = settled(subject === undefined ? undefined : lastPlace(nats, subject))
    const earlier = taken.map(({ event, seq }) => ({
      stream: streamName,
      position: event.position,
      seq,
      duplicate: true,
    }))
    if (events.length === 0 || Date.now() - intactAt > trustFor) {
      const lost = await look(mark, found).catch((cause: unknown) => {
        waits.streamIsAway(cause)
        throw cause
      })
      if (lost) return { state: lost }
    }
    if (events.length === 0) return { added: earlier }
    announcer.callers(events)
    announcer.hint(events)
    const began = performance.now()
    const old = Date.now() - knownFor
    const outcomes = await publish(nats, events, {
      service,
      generation,
      key,
      messages,
      floor: Number(published.stream_sequence ?? published.stream_floor),
      taken,
      inDoubt: ({ created_at }) => in_doubt || created_at.getTime() < old,
    })
    const ended = performance.now()
    const added: NonNullable<Forwarded['added']> = earlier
    const [refused, failures]: [Refused[], { cause: unknown }[]] = [[], []]
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
      const lost = await look(mark, found, added)
      if (lost) return { state: lost }
      intactAt = Date.now()
    } catch (cause) {
      failures.push({ cause })
    }
    return { added, refused, failure: failures[0] }
  }

  // Returns the state of a stream that lost events. A stream that was made anew has no service that names a place.
  async function look(mark: Mark, found: Settled<number | undefined>, added?: PubAck[]) {
    const [named, first] = await Promise.all([found, streamState(nats)])
    if (named.status === 'rejected' && first.created === mark.created) throw named.reason
    const asked = { ...mark, found: named.status === 'fulfilled' ? named.value : undefined }
    if (isIntact(first, asked, added)) return undefined
    // Age may have taken the mark between the two answers.
    const state = await streamState(nats)
    return isIntact(state, asked, added) ? undefined : state
  }
}

type Settled<T> = Promise<PromiseSettledResult<T>>

async function settled<T>(asked: T | Promise<T>): Settled<T> {
  const [outcome] = await Promise.allSettled([asked])
  return outcome
}

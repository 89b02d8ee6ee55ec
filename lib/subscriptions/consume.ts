import { type ConsumerMessages, type JsMsg, NatsError } from 'nats'
import { BriefMap } from '../brief-map.ts'
import type { Log } from '../log.ts'
import type { Nats } from '../nats/connect-nats.ts'
import type { Service } from '../process.ts'
import { repeat } from '../repeat.ts'
import { throttled } from '../throttled.ts'
import { below } from '../telemetry/in-span.ts'
import { type PublishedEvent, readEvent } from '../events/cloud-event.ts'
import { processing } from '../events/spans.ts'
import { streamName, withApi } from '../events/stream.ts'

export interface ConsumeOptions {
  nats: Nats
  log: Log
  /** Name of the durable consumer, such as one of `consumers`. Replicas that use the same name share the events. */
  durable: string
  /**
   * Works on an event, while others are under way. If it throws, the event comes again; the event may also come again
   * after a success.
   */
  handle(event: PublishedEvent): Promise<void>
}

const retryAfter = 1000

/**
 * Hands each event to `handle` at least once, and acknowledges it after the work. Recovers from lost connections and
 * lost streams.
 */
export function consume({ nats, log, durable, handle }: ConsumeOptions): Service {
  let messages: ConsumerMessages | undefined
  const span = processing(durable)
  const said = throttled(log, `the consumer ${durable} stopped and tries again`)
  const again = throttled(log, 'an event is tried again')
  let isMissing = false

  const reading = repeat({ work: read, every: retryAfter, retryAfter, failed })

  async function read(stopped: AbortSignal) {
    messages = await open()
    isMissing = false
    // A stop that came meanwhile found nothing to close. Do not wait for this close: it ends only for a reader of the
    // messages.
    if (stopped.aborted) return void messages.close()
    const underWay = new BriefMap<Promise<void>, true>()
    try {
      // The consumer's `max_ack_pending` bounds the work under way.
      for await (const message of messages) {
        const worked = workOn(message).finally(() => underWay.delete(worked))
        underWay.set(worked, true)
      }
    } finally {
      await Promise.all(underWay.keys())
    }
  }

  async function workOn(message: JsMsg) {
    try {
      const event = readEvent(message)
      // The message is older than our use of CloudEvents; the outbox has published its event again since.
      if (!event) return message.term()
      await below(span, event.traceparent, () => handle(event))
      message.ack()
    } catch (error) {
      again(error as Error, { subject: message.subject })
      message.nak(retryAfter)
    }
  }

  function failed(error: Error) {
    if (!(error instanceof NatsError && error.code === '404')) return said(error)
    // The keeper of the stream makes the stream and its consumers.
    if (!isMissing) log.info({ durable }, 'there is no such consumer yet')
    isMissing = true
  }

  async function open() {
    const consumer = await withApi((apiPrefix) =>
      nats.connection.jetstream({ apiPrefix }).consumers.get(streamName, durable),
    )
    return consumer.consume({ max_messages: 100, idle_heartbeat: 5000, abort_on_missing_resource: true })
  }

  return {
    async stop() {
      const stopped = reading.stop()
      await messages?.close()
      await stopped
    },
  }
}

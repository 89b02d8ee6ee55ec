import { type ConsumerMessages, NatsError } from 'nats'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../log.ts'
import type { Nats } from '../nats.ts'
import type { Service } from '../process.ts'
import { type PublishedEvent, readEvent } from './cloud-event.ts'
import { streamName, withApi } from './stream.ts'

export interface ConsumeOptions {
  nats: Nats
  log: Log
  /** Name of the durable consumer, such as one of `consumers`: its replicas share the events. */
  durable: string
  /** Works on an event; it comes again where this throws, and may come again even where it does not. */
  handle(event: PublishedEvent): Promise<void>
}

const retryAfter = 1000

/** Hands events to `handle`, at least once each, acknowledged after the work. Recovers from lost connections and streams. */
export function consume({ nats, log, durable, handle }: ConsumeOptions): Service {
  const stopped = new AbortController()
  let messages: ConsumerMessages | undefined

  async function run() {
    while (!stopped.signal.aborted) {
      try {
        messages = await open()
        // A stop that came meanwhile found nothing to close. (Nobody reads the messages, so the close is never told to be over.)
        if (stopped.signal.aborted) return void messages.close()
        for await (const message of messages) {
          try {
            const event = readEvent(message)
            // From before events were CloudEvents, and published anew since.
            if (!event) message.term()
            else {
              await handle(event)
              message.ack()
            }
          } catch (error) {
            log.warn({ err: error, subject: message.subject }, 'an event is tried again')
            message.nak(retryAfter)
          }
        }
      } catch (error) {
        // The keeper of the stream makes both.
        if (error instanceof NatsError && error.code === '404') log.info({ durable }, 'there is no such consumer yet')
        else if (!stopped.signal.aborted) log.warn({ err: error, durable }, 'the consumer stopped and tries again')
      }
      await sleep(retryAfter, undefined, { signal: stopped.signal }).catch(() => {})
    }
  }

  async function open() {
    const consumer = await withApi((apiPrefix) =>
      nats.connection.jetstream({ apiPrefix }).consumers.get(streamName, durable),
    )
    return consumer.consume({ max_messages: 100, idle_heartbeat: 5000, abort_on_missing_resource: true })
  }

  const finished = run()
  return {
    async stop() {
      stopped.abort()
      await messages?.close()
      await finished
    },
  }
}

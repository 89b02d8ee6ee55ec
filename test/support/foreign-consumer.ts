import { setTimeout as sleep } from 'node:timers/promises'
import { connect, NatsError } from 'nats'
import { ensureConsumer } from '#lib/outbox/stream-keeper'
import { streamName } from '#lib/events/stream'

/** A durable consumer of somebody else, who acknowledges each event at once and keeps its id. */
export interface Foreign {
  seen: Set<string>
  /** How many events came again. */
  again(): number
  stop(): Promise<void>
}

/** Makes the consumer, once. Nobody makes it again where it is lost. */
export async function startForeignConsumer(url: string, name: string): Promise<Foreign> {
  const { host, username, password } = new URL(url)
  const connection = await connect({
    servers: host,
    user: username,
    pass: password,
    inboxPrefix: '_INBOX_admin',
    maxReconnectAttempts: -1,
    reconnectTimeWait: 250,
  })
  await ensureConsumer(await connection.jetstreamManager(), name, 'roster.events.>')
  const seen = new Set<string>()
  const stopped = new AbortController()
  let again = 0

  async function read() {
    const consumer = await connection.jetstream().consumers.get(streamName, name)
    for await (const message of await consumer.fetch({ max_messages: 100, expires: 1000 })) {
      const id = message.headers?.get('ce-id') ?? ''
      if (seen.has(id)) again++
      seen.add(id)
      message.ack()
    }
  }

  const reading = (async () => {
    while (!stopped.signal.aborted)
      await read().catch(async (error: unknown) => {
        if (!(error instanceof NatsError)) throw error
        await sleep(200)
      })
  })()
  return {
    seen,
    again: () => again,
    async stop() {
      stopped.abort()
      await reading
      await connection.close()
    },
  }
}

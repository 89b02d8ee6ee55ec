import type { Log } from '../log.ts'
import type { Nats } from '../nats/connect-nats.ts'
import { throttled } from '../throttled.ts'
import { isConnectionError } from '../database/database.ts'

/** Milliseconds after which a stream that takes no events, or a database that says nothing, counts as away. */
const patience = 5000

/** Awaits an answer that PostgreSQL has no part in. */
export type Elsewhere = <T>(asked: Promise<T>) => Promise<T>

/** Notes the servers that an outbox waits for. */
export interface OutboxWaits {
  /**
   * Runs a tick, and notes where PostgreSQL keeps it waiting for long: a server that hangs gives no error. The tick
   * counts as a wait for PostgreSQL, except while it awaits what it hands to `elsewhere`.
   */
  run<T>(tick: (elsewhere: Elsewhere) => Promise<T>): Promise<T>
  streamIsAway(cause: unknown): void
  streamIsThere(): void
  succeeded(): void
  failed(error: Error): void
}

export function noteOutboxWaits({ nats, log }: { nats: Nats; log: Log }): OutboxWaits {
  const { waits } = nats
  const say = throttled(log, 'the outbox stopped and tries again')
  let awaySince: number | undefined
  return {
    async run(tick) {
      const watch = () => {
        const at = Date.now()
        return setTimeout(() => waits.begin('PostgreSQL', new Error('it does not answer'), at), patience)
      }
      let late: NodeJS.Timeout | undefined = watch()
      try {
        return await tick(async (asked) => {
          clearTimeout(late)
          try {
            return await asked
          } finally {
            // A tick whose connection was lost may be over by now.
            if (late) late = watch()
          }
        })
      } finally {
        clearTimeout(late)
        late = undefined
      }
    },
    // A keeper that starts again is away for a moment. Without NATS, the service waits for NATS.
    streamIsAway(cause) {
      awaySince ??= Date.now()
      if (nats.connected() && Date.now() - awaySince >= patience) waits.begin('JetStream', cause, awaySince)
    },
    streamIsThere() {
      awaySince = undefined
      waits.end('JetStream')
    },
    succeeded: () => waits.end('PostgreSQL'),
    failed(error) {
      if (isConnectionError(error)) return waits.begin('PostgreSQL', error)
      waits.end('PostgreSQL')
      if (!waits.has('NATS') && !waits.has('JetStream')) say(error)
    },
  }
}

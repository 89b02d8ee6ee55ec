import type { Log } from '../../log.ts'
import type { Nats } from '../../nats.ts'
import { throttled } from '../../throttled.ts'
import { isConnectionError } from '../database.ts'

/** Milliseconds after which a stream that takes no events, or a database that says nothing, counts as away. */
const patience = 5000

/** Notes the servers that a tail waits for. */
export interface TailWaits {
  /** Waits for an answer of PostgreSQL, and notes where it takes long: a server that hangs gives no error. */
  inTime<T>(asked: PromiseLike<T>): Promise<T>
  streamIsAway(cause: unknown): void
  streamIsThere(): void
  succeeded(): void
  failed(error: Error): void
}

export function noteTailWaits({ nats, log }: { nats: Nats; log: Log }): TailWaits {
  const { waits } = nats
  const say = throttled(log, 'the tail stopped and tries again')
  let awaySince: number | undefined
  return {
    async inTime(asked) {
      const at = Date.now()
      const late = setTimeout(() => waits.begin('PostgreSQL', new Error('it does not answer'), at), patience)
      try {
        return await asked
      } finally {
        clearTimeout(late)
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

import { randomUUID } from 'node:crypto'
import { createInbox, ErrorCode, type Msg, type MsgHdrs, type NatsConnection, NatsError } from 'nats'
import { BriefMap } from '../brief-map.ts'

/** A request that waits for its answer. */
export interface Asked {
  /**
   * The answer. Rejects with a NatsError: 503 where no service listens, TIMEOUT, or DISCONNECT where the connection is
   * lost, now or meanwhile, or closed. Also rejects with the client's own error for a message that it cannot send, and
   * with the error given to `fail`.
   */
  answer: Promise<Msg>
  /** Ends the wait with this error. Does nothing once the wait is over. */
  fail(error: Error): void
}

/** Sends a request; `timeout` is in milliseconds. */
export type Ask = (subject: string, data: Uint8Array | string, options: { timeout: number; headers?: MsgHdrs }) => Asked

/**
 * One inbox for the answers to all requests of a connection. The client's own `request` is slow: it creates an error
 * with a stack trace even for each request that succeeds.
 */
export function createNatsRequests(
  connection: NatsConnection,
  inboxPrefix: string,
  connected: () => boolean,
): { ask: Ask; failAll(): void } {
  const inbox = `${createInbox(inboxPrefix)}.`
  const waiting = new BriefMap<string, (outcome: Msg | Error) => void>()

  connection.subscribe(`${inbox}*`, {
    callback(error, message) {
      if (!error) waiting.get(message.subject.slice(inbox.length))?.(isUnheard(message) ? noResponders() : message)
    },
  })

  function failAll() {
    for (const end of waiting.values()) end(NatsError.errorForCode(ErrorCode.Disconnect))
  }
  void connection.closed().then(failAll)

  return {
    ask(subject, data, { timeout, headers }) {
      const { promise: answer, resolve, reject } = Promise.withResolvers<Msg>()
      // A service that answers one request must not guess the subject of the next answer.
      const token = randomUUID()
      const timer = setTimeout(() => end(NatsError.errorForCode(ErrorCode.Timeout)), timeout)
      function end(outcome: Msg | Error) {
        if (!waiting.delete(token)) return
        clearTimeout(timer)
        if (outcome instanceof Error) reject(outcome)
        else resolve(outcome)
      }
      waiting.set(token, end)
      try {
        // The client would drop it at its next try to connect.
        if (!connected()) throw NatsError.errorForCode(ErrorCode.Disconnect)
        connection.publish(subject, data, { reply: inbox + token, ...(headers && { headers }) })
      } catch (error) {
        end(error as Error)
      }
      return { answer, fail: end }
    },
    failAll,
  }
}

// The server itself answers like this where no service listens.
const isUnheard = (message: Msg) => message.data.length === 0 && message.headers?.code === 503
const noResponders = () => NatsError.errorForCode(ErrorCode.NoResponders)

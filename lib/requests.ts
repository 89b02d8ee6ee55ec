import { createInbox, ErrorCode, type Msg, type MsgHdrs, type NatsConnection, NatsError } from 'nats'

/** A request whose answer is awaited. */
export interface Asked {
  /**
   * The answer. Rejects with a NatsError: 503 where nobody listens, TIMEOUT, DISCONNECT where the connection is lost or closed, what
   * the client throws of a message that it cannot send; or with what `fail` was given.
   */
  answer: Promise<Msg>
  /** Ends the wait; without effect once it is over. */
  fail(error: Error): void
}

/** Sends a request; `timeout` is in milliseconds. */
export type Ask = (subject: string, data: Uint8Array | string, options: { timeout: number; headers?: MsgHdrs }) => Asked

/**
 * One inbox for the answers to all requests of a connection. The client's own `request` makes an error, with its stack, for each
 * request that succeeds.
 */
export function createRequests(connection: NatsConnection, inboxPrefix: string): { ask: Ask; failAll(): void } {
  const inbox = `${createInbox(inboxPrefix)}.`
  const waiting = new Map<string, (outcome: Msg | Error) => void>()
  let last = 0

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
      const token = (++last).toString(36)
      const timer = setTimeout(() => end(NatsError.errorForCode(ErrorCode.Timeout)), timeout)
      function end(outcome: Msg | Error) {
        if (!waiting.delete(token)) return
        clearTimeout(timer)
        if (outcome instanceof Error) reject(outcome)
        else resolve(outcome)
      }
      waiting.set(token, end)
      try {
        connection.publish(subject, data, { reply: inbox + token, ...(headers && { headers }) })
      } catch (error) {
        end(error as Error)
      }
      return { answer, fail: end }
    },
    failAll,
  }
}

// What the server itself answers where nobody listens.
const isUnheard = (message: Msg) => message.data.length === 0 && message.headers?.code === 503
const noResponders = () => NatsError.errorForCode(ErrorCode.NoResponders)

import SMTPPool from 'nodemailer/lib/smtp-pool'
import { withTimeout } from '#lib/with-timeout'

export interface SmtpPoolOptions extends SMTPPool.Options {
  /** Milliseconds that the server may take to be ready for a mail. */
  readyWithin: number
  /** Whether the mail servers are asked to report a mail that does not arrive, without its text (RFC 3461). */
  wantsReports?: boolean
}

/** Connections to a mail server that stay open. */
export interface SmtpPool {
  /** Whether the mail server lets somebody like us in. Rejects where not. */
  verify(): Promise<unknown>
  /**
   * Sends a whole mail to one address. Resolves once the mail server took it, with its reply. Once the server is ready for
   * the mail, which may take minutes, asks whether it is still due. If not, keeps it back: false.
   */
  send(from: string, to: string, mail: string, isDue?: () => Promise<boolean>): Promise<string | false>
  /** Ends the connections. Mails under way fail. */
  close(): void
}

/**
 * Milliseconds that a server may take to acknowledge a whole mail (RFC 5321, section 4.5.3.2.6). If we gave up earlier,
 * the server would get it again, though it took it.
 */
const acknowledgedWithin = 10 * 60_000

/**
 * Opens nodemailer's pool, without its composer. That would take the written mail apart for headers that no one asks
 * for, and lead it through four streams: more work than all of the sending.
 */
export function openSmtpPool({ readyWithin, wantsReports = false, ...options }: SmtpPoolOptions): SmtpPool {
  const pool = new SMTPPool({ ...options, socketTimeout: acknowledgedWithin, idleTimeout: readyWithin })

  const connectionOf = (message: Message) =>
    (pool as unknown as { _connections: Connection[] })._connections.find(
      ({ queueEntry }) => queueEntry?.mail === message,
    )

  function send(from: string, to: string, mail: string, isDue = async () => true): Promise<string | false> {
    const { promise, resolve, reject } = Promise.withResolvers<string | false>()
    const aborting = new AbortController()
    const end = (settle: () => void) => (settle(), aborting.abort())
    const timer = setTimeout(() => end(() => reject(notReady())), readyWithin)
    async function whenReady(stream: NodeJS.WritableStream) {
      clearTimeout(timer)
      if (await isDue()) stream.end(mail)
      else end(() => resolve(false))
    }
    const stream = streamOf((to) => void whenReady(to).catch((error) => end(() => reject(error))))
    const message = written({ from, to: [to] }, stream, { signal: aborting.signal, ...(wantsReports && { dsn }) })
    pool.send(message, (error, info) => {
      clearTimeout(timer)
      if (!error) return resolve(info!.response)
      const worn = refusesSenderForNow(error) ? connectionOf(message) : undefined
      if (!worn) return reject(error)
      // Once the pool has taken the mail from it.
      setImmediate(() => worn.close())
      if (worn.messages > 1) resolve(send(from, to, mail, isDue))
      else reject(error)
    })
    return promise
  }

  return {
    send,
    verify: () => withTimeout(pool.verify(), { timeout: readyWithin, late: notReady }),
    close: () => pool.close({ force: true }),
  }
}

/** In nodemailer's words. The code in a mail must not come back with it. */
export const dsn = { return: 'headers', notify: 'failure' } as const

type SmtpError = NonNullable<Parameters<Parameters<SMTPPool['send']>[1]>[0]>
type Message = Parameters<SMTPPool['send']>[0]

/** A connection, as the pool keeps it. */
interface Connection {
  /** The mails that were tried over it. */
  messages: number
  queueEntry?: { mail: Message }
  close(): void
}

// It may be too many mails over this connection, which some servers answer to each further one. The pool would go on
// with the connection, and every mail that comes to it would wait.
function refusesSenderForNow({ command, responseCode }: SmtpError): boolean {
  return command === 'MAIL FROM' && responseCode !== undefined && responseCode < 500
}

function notReady(): Error {
  return Object.assign(new Error('the mail server was not ready in time'), { code: 'ETIMEDOUT' })
}

// As much of nodemailer's message as its pool asks for. A test sends by it over connections that break.
function written(
  envelope: { from: string; to: string[] },
  stream: ReturnType<typeof streamOf>,
  data: { signal: AbortSignal; dsn?: typeof dsn },
): Message {
  const message = {
    // The pool changes what it gets.
    getEnvelope: () => ({ ...envelope }),
    messageId: () => '',
    getHeader: () => '',
    createReadStream: () => stream,
  }
  return { data, message } as unknown as Message
}

// The pool sends a mail again over another connection only if nothing of it was read.
function streamOf(write: (connection: NodeJS.WritableStream) => void) {
  const stream = {
    readableDidRead: false,
    pipe(connection: NodeJS.WritableStream) {
      stream.readableDidRead = true
      write(connection)
    },
  }
  return stream
}

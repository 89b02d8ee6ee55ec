import SMTPPool from 'nodemailer/lib/smtp-pool'

export type SmtpPoolOptions = ConstructorParameters<typeof SMTPPool>[0]

/** Connections to a mail server that stay open. */
export interface SmtpPool {
  /** Whether the mail server lets somebody like us in. Rejects where not. */
  verify(): Promise<unknown>
  /** Sends a whole mail to one address. Resolves once the mail server took it. */
  send(from: string, to: string, mail: string): Promise<void>
  /** Ends the connections. Mails under way fail. */
  close(): void
}

/**
 * Opens nodemailer's pool, without its composer. That would take the written mail apart for headers that nobody asks
 * for, and lead it through four streams: more work than all of the sending.
 */
export function openSmtpPool(options: SmtpPoolOptions): SmtpPool {
  const pool = new SMTPPool(options)
  return {
    send: (from, to, mail) =>
      new Promise((resolve, reject) => {
        pool.send(written({ from, to: [to] }, mail), (error) => (error ? reject(error) : resolve()))
      }),
    verify: () => pool.verify(),
    close: () => pool.close({ force: true }),
  }
}

// As much of nodemailer's message as its pool asks for. A test sends by it over connections that break.
function written(envelope: { from: string; to: string[] }, mail: string): Parameters<SMTPPool['send']>[0] {
  const message = {
    // The pool changes what it gets.
    getEnvelope: () => ({ ...envelope }),
    messageId: () => '',
    getHeader: () => '',
    createReadStream: () => streamOf(mail),
  }
  return { data: {}, message } as unknown as Parameters<SMTPPool['send']>[0]
}

// The pool sends a mail again over another connection only if nothing of it was read.
function streamOf(mail: string) {
  const stream = {
    readableDidRead: false,
    pipe(connection: NodeJS.WritableStream) {
      stream.readableDidRead = true
      connection.end(mail)
    },
  }
  return stream
}

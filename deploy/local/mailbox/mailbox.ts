import { createServer, type Server } from 'node:http'
import type { AddressInfo, Server as NetServer, Socket } from 'node:net'
import { join } from 'node:path'
import { SMTPServer } from 'smtp-server'
import { mailboxPages } from './http.ts'
import { openMailStore, type MailStore } from './store.ts'

/** The mailbox gives this answer to the next mails instead of taking them. */
export interface Refusal {
  /** An SMTP code: 4xx is "later", 5xx "never". */
  code: number
  /** How many mails; default: all, until `accept` is called. */
  times?: number
  /** Only mails to this address. */
  recipient?: string
}

/** A local SMTP server whose mails are read over HTTP, in the manner of Mailpit. */
export interface Mailbox {
  smtpUrl: string
  url: string
  mails: MailStore
  refuse(refusal: Refusal): void
  /** Takes back every refusal. */
  accept(): void
  /** Stops the SMTP side, cutting open connections; `resume` listens again on the same port. */
  pause(): Promise<void>
  resume(): Promise<void>
  stop(): Promise<void>
}

/** Listens on 127.0.0.1 (or `host`); port 0 lets the system choose. Mails are kept in `folder`, the newest 1000. */
export async function startMailbox(options: {
  folder: string
  smtpPort: number
  httpPort: number
  host?: string
}): Promise<Mailbox> {
  const host = options.host ?? '127.0.0.1'
  const mails = await openMailStore(options.folder)
  const refusals: Refusal[] = []
  let smtp = smtpServer(mails, refusals)
  const smtpPort = await listen(smtp.server, options.smtpPort, host)
  const http = createServer(mailboxPages(mails))
  const httpPort = await listen(http, options.httpPort, host)
  const pause = () => closeSmtp(smtp)
  return {
    smtpUrl: `smtp://${host}:${smtpPort}`,
    url: `http://localhost:${httpPort}`,
    mails,
    refuse: (refusal) => void refusals.push({ ...refusal }),
    accept: () => void refusals.splice(0),
    pause,
    resume: async () => {
      smtp = smtpServer(mails, refusals)
      await listen(smtp.server, smtpPort, host)
    },
    stop: async () => {
      await Promise.all([pause(), closeHttp(http)])
      await mails.flush()
    },
  }
}

function smtpServer(mails: MailStore, refusals: Refusal[]): SMTPServer {
  const server = new SMTPServer({
    name: 'localhost',
    banner: "Roster's local mailbox",
    disabledCommands: ['AUTH', 'STARTTLS'],
    size: 10 * 1024 * 1024,
    closeTimeout: 100,
    disableReverseLookup: true,
    onRcptTo(address, _session, done) {
      const refusal = takeRefusal(refusals, address.address)
      done(refusal && Object.assign(new Error('Refused, as asked'), { responseCode: refusal.code }))
    },
    onData(stream, session, done) {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.once('error', done)
      stream.once('end', () => {
        if (stream.sizeExceeded) return done(Object.assign(new Error('Too large'), { responseCode: 552 }))
        const envelope = session.envelope.rcptTo.map((to) => to.address)
        mails.add(Buffer.concat(chunks), envelope).then(() => done(), done)
      })
    },
  })
  server.on('error', () => {}) // A client that hangs up in the middle is no news.
  return server
}

function takeRefusal(refusals: Refusal[], recipient: string): Refusal | undefined {
  const index = refusals.findIndex(
    (refusal) => refusal.recipient === undefined || refusal.recipient.toLowerCase() === recipient.toLowerCase(),
  )
  const refusal = refusals[index]
  if (refusal?.times !== undefined && --refusal.times <= 0) refusals.splice(index, 1)
  return refusal
}

function listen(server: NetServer, port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      resolve((server.address() as AddressInfo).port)
    })
  })
}

async function closeSmtp(smtp: SMTPServer): Promise<void> {
  if (!smtp.server.listening) return
  const closed = new Promise<void>((resolve) => smtp.server.close(() => resolve()))
  for (const connection of smtp.connections as Set<{ _socket?: Socket }>) connection._socket?.destroy()
  await closed
}

function closeHttp(http: Server): Promise<void> {
  http.closeAllConnections()
  return new Promise((resolve) => http.close(() => resolve()))
}

export function mailFolder(home: string): string {
  return join(home, 'mail')
}

import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import PostalMime, { type Email } from 'postal-mime'
import { SMTPServer } from 'smtp-server'

/** The server's answer to a mail that it does not take. */
export interface Answer {
  at: 'RCPT TO' | 'DATA'
  code: number
}

/** A real SMTP server that keeps mails, and refuses those that a test names. */
export interface TestMailServer {
  url: string
  /** The mails that it took for an address. */
  mailsTo(address: string): Email[]
  /** The senders in the envelopes of these. */
  sendersTo(address: string): string[]
  /** The addresses of all tries. */
  tried(): string[]
  /** The names by which clients greeted it. */
  greetedAs(): string[]
  /** The number of tries for an address. */
  triesFor(address: string): number
  /** Sets the answers to the next mails for an address. The server takes later mails. */
  answer(address: string, ...answers: Answer[]): void
  /** Sets what the server says as it takes mails for an address, from the mail's text. */
  reply(address: string, write: (mail: string) => string): void
  /** Sets work to do after a whole mail came and before the server accepts it. */
  beforeAccepting(work: (address: string) => Promise<void>): void
  /** Cuts every connection and refuses new ones, until `resume`. */
  pause(): Promise<void>
  resume(): Promise<void>
}

/** Listens on a free port of 127.0.0.1. */
export async function startTestMailServer(): Promise<TestMailServer> {
  const mails: { address: string; sender: string; email: Email }[] = []
  const tries: string[] = []
  const names = new Set<string>()
  const answers = new Map<string, Answer[]>()
  const replies = new Map<string, (mail: string) => string>()
  let beforeAccepting = async (_address: string) => {}

  function refusal(address: string, at: Answer['at']): Error | undefined {
    const [next, ...others] = answers.get(address) ?? []
    if (next?.at !== at) return undefined
    answers.set(address, others)
    return Object.assign(new Error(`${next.code < 500 ? 4 : 5}.1.1 <${address}> not now`), { responseCode: next.code })
  }

  async function take(address: string, sender: string, stream: NodeJS.ReadableStream): Promise<string | undefined> {
    const email = await PostalMime.parse(await buffer(stream))
    const refused = refusal(address, 'DATA')
    if (refused) throw refused
    mails.push({ address, sender, email })
    await beforeAccepting(address)
    return replies.get(address)?.(email.text ?? '')
  }

  const create = () =>
    new SMTPServer({
      authOptional: true,
      disabledCommands: ['STARTTLS'],
      onRcptTo({ address }, session, callback) {
        names.add(session.hostNameAppearsAs)
        tries.push(address)
        callback(refusal(address, 'RCPT TO'))
      },
      onData(stream, { envelope }, callback) {
        take(envelope.rcptTo[0]!.address, envelope.mailFrom ? envelope.mailFrom.address : '', stream).then(
          (text) => callback(null, text),
          callback,
        )
      },
    }).on('error', () => {})

  let server = create()
  let port = 0
  async function resume() {
    server = create()
    server.listen(port, '127.0.0.1')
    await once(server.server, 'listening')
    port = (server.server.address() as AddressInfo).port
  }
  await resume()

  return {
    url: `smtp://127.0.0.1:${port}`,
    mailsTo: (address) => mails.filter((mail) => mail.address === address).map((mail) => mail.email),
    sendersTo: (address) => mails.filter((mail) => mail.address === address).map((mail) => mail.sender),
    tried: () => [...tries],
    greetedAs: () => [...names],
    triesFor: (address) => tries.filter((tried) => tried === address).length,
    answer: (address, ...next) => void answers.set(address, next),
    reply: (address, write) => void replies.set(address, write),
    beforeAccepting: (work) => void (beforeAccepting = work),
    async pause() {
      for (const connection of server.connections) connection.close()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
    resume,
  }
}

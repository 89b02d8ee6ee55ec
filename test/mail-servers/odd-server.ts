import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'

/** What the client waits for: the answer to a command, or to a whole mail. */
export type Moment = 'EHLO' | 'MAIL' | 'RCPT' | 'DATA' | 'mail'

/** A mail server as no program of Debian can be configured. */
export interface OddServer {
  url: string
  /** The whole mails that it got, with those that it never acknowledged. */
  got: { address: string; id: string; text: string }[]
  /** How many connections are open. */
  open(): number
  /**
   * Sets what it does at a moment of a mail to an address: `undefined` answers as usual, and `cut` cuts the connection.
   * Before `RCPT` the address is not known, and empty.
   */
  at(decide: (moment: Moment, address: string) => Promise<'cut' | undefined> | 'cut' | undefined): void
  stop(): void
}

export async function startOddServer(): Promise<OddServer> {
  const sockets = new Set<Socket>()
  const got: OddServer['got'] = []
  let decide: Parameters<OddServer['at']>[0] = () => undefined
  const server = createServer(async (socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket)).on('error', () => {})
    socket.setEncoding('utf8').write('220 localhost\r\n')
    let text = ''
    let address = ''
    let inMail = false
    // One after the other, as the client writes only after an answer.
    socket.on('data', async (chunk: string) => {
      text += chunk
      const end = inMail ? '\r\n.\r\n' : '\r\n'
      if (!text.endsWith(end)) return
      const line = text
      text = ''
      const moment = inMail ? 'mail' : (line.slice(0, 4).toUpperCase() as Moment)
      if (moment === 'MAIL') address = ''
      if (moment === 'RCPT') address = /<(.*)>/.exec(line)![1]!
      if (moment === 'mail') got.push({ address, id: /^message-id: (.*)$/im.exec(line)![1]!, text: line })
      if ((await decide(moment, address)) === 'cut') return void socket.destroy()
      inMail = moment === 'DATA'
      socket.write(inMail ? '354 go on\r\n' : line.startsWith('QUIT') ? '221 bye\r\n' : '250 localhost\r\n')
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`,
    got,
    open: () => sockets.size,
    at: (next) => void (decide = next),
    stop() {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}

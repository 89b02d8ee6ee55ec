import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import type { AddressInfo } from 'node:net'

/** A mail server that takes every mail at once and keeps none. */
export interface Sink {
  url: string
  /** Hears of each mail's recipient. */
  onMail: (recipient: string) => void
  stop(): Promise<void>
}

export async function startSink(): Promise<Sink> {
  const sockets = new Set<Socket>()
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => socket.destroy())
    speak(socket, (recipient) => sink.onMail(recipient))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const sink: Sink = {
    url: `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`,
    onMail: () => {},
    async stop() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
  return sink
}

// As much of SMTP as a client needs that sends one mail after the other.
function speak(socket: Socket, onMail: (recipient: string) => void): void {
  let text = ''
  let recipient = ''
  let inMail = false
  const say = (line: string) => socket.write(`${line}\r\n`)
  say('220 sink')
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1')
    for (;;) {
      const end = inMail ? text.indexOf('\r\n.\r\n') : text.indexOf('\r\n')
      if (end < 0) return
      const line = text.slice(0, end)
      text = text.slice(end + (inMail ? 5 : 2))
      if (inMail) {
        inMail = false
        onMail(recipient)
        say('250 taken')
        continue
      }
      const command = line.slice(0, 4).toUpperCase()
      if (command === 'RCPT') recipient = /<(.*)>/.exec(line)?.[1] ?? ''
      inMail = command === 'DATA'
      if (command === 'EHLO') socket.write('250-sink\r\n250 PIPELINING\r\n')
      else say(inMail ? '354 go on' : command === 'QUIT' ? '221 bye' : '250 ok')
    }
  })
}

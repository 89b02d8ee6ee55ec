import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import type { AddressInfo } from 'node:net'

/** A mail server that takes every mail at once and keeps none. */
export interface Sink {
  url: string
  /** Hears of each mail's recipient. */
  onMail: (recipient: string) => void
  /** Bytes of the last mail. */
  lastSize: number
  stop(): Promise<void>
}

export async function startSink(): Promise<Sink> {
  const sockets = new Set<Socket>()
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => socket.destroy())
    speak(socket, (recipient, size) => {
      sink.lastSize = size
      sink.onMail(recipient)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const sink: Sink = {
    url: `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`,
    onMail: () => {},
    lastSize: 0,
    async stop() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
  return sink
}

// As much of SMTP as a client needs that sends one mail after the other. It answers commands that came together together.
function speak(socket: Socket, onMail: (recipient: string, size: number) => void): void {
  let text = ''
  let recipient = ''
  let inMail = false

  function answerTo(line: string): string {
    if (inMail) {
      inMail = false
      onMail(recipient, line.length)
      return '250 taken\r\n'
    }
    const command = line.slice(0, 4).toUpperCase()
    if (command === 'EHLO') return '250-sink\r\n250 PIPELINING\r\n'
    if (command === 'RCPT') recipient = /<(.*)>/.exec(line)?.[1] ?? ''
    inMail = command === 'DATA'
    return inMail ? '354 go on\r\n' : command === 'QUIT' ? '221 bye\r\n' : '250 ok\r\n'
  }

  socket.write('220 sink\r\n')
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1')
    let answers = ''
    for (;;) {
      const end = inMail ? text.indexOf('\r\n.\r\n') : text.indexOf('\r\n')
      if (end < 0) break
      const line = text.slice(0, end)
      text = text.slice(end + (inMail ? 5 : 2))
      answers += answerTo(line)
    }
    if (answers !== '') socket.write(answers)
  })
}

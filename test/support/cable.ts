import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A connection between two parts of the system that can be cut and stalled. */
export interface Cable {
  port: number
  /** Ends every connection and refuses new ones. */
  cut(): void
  /** Passes nothing in either direction, without a word to either end. */
  stall(): void
  /** Restores the connection. Stalled bytes go on. */
  mend(): void
  stop(): Promise<void>
}

/** Whether a connection is reset instead of passing on what a client sends. */
type ResetsAt = (sent: Buffer) => boolean

/** Lays a cable to the server of a URL, and returns the URL by that way. The URL names its port. */
export async function layCable(target: string, resetsAt?: ResetsAt): Promise<Cable & { url: string }> {
  const url = new URL(target)
  const cable = await startCable(Number(url.port), resetsAt)
  url.hostname = '127.0.0.1'
  url.port = String(cable.port)
  return { ...cable, url: url.href }
}

/** Connects a free port of 127.0.0.1 with a server's port, which may change for new connections. */
export async function startCable(target: number | (() => number), resetsAt: ResetsAt = () => false): Promise<Cable> {
  const sockets = new Set<Socket>()
  let state: 'whole' | 'cut' | 'stalled' = 'whole'

  const server = createServer((near) => {
    if (state === 'cut') return void near.resetAndDestroy()
    const far = connect(typeof target === 'number' ? target : target(), '127.0.0.1')
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(socket)
      socket.setNoDelay(true)
      socket.on('error', () => {})
      socket.on('close', () => {
        sockets.delete(socket)
        other.destroy()
      })
      socket.on('data', (chunk: Buffer) => {
        if (socket === near && resetsAt(chunk)) near.resetAndDestroy()
        else if (!other.write(chunk)) socket.pause()
      })
      socket.on('drain', () => state !== 'stalled' && other.resume())
      if (state === 'stalled') socket.pause()
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')

  return {
    port: (server.address() as AddressInfo).port,
    cut() {
      state = 'cut'
      for (const socket of sockets) socket.resetAndDestroy()
    },
    stall() {
      state = 'stalled'
      for (const socket of sockets) socket.pause()
    },
    mend() {
      state = 'whole'
      for (const socket of sockets) socket.resume()
    },
    async stop() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

import { randomInt } from 'node:crypto'
import { createSocket, type Socket } from 'node:dgram'
import { isFree } from './before-install/gateway-port.mjs'

/**
 * A free TCP port of localhost: the preferred one or the next free one above it; 0: any from 10000 to 29999. Systems
 * give higher ones to outgoing connections, and one of those could take the port of a server that is being restarted.
 */
export async function freePort(preferred: number): Promise<number> {
  const next = preferred === 0 ? () => randomInt(10_000, 30_000) : (attempt: number) => preferred + attempt
  for (let attempt = 0; attempt < 100; attempt++) {
    const port = next(attempt)
    const claimed = await claim(port)
    if (!claimed) continue
    if (await isFree(port)) return port
    claimed.close()
  }
  throw new Error(`No free port found on localhost${preferred === 0 ? '' : ` from ${preferred} to ${preferred + 99}`}.`)
}

// A port given away is not bound yet, and another start may look at this moment. The UDP port of the same number, which no
// server of ours uses, is the claim: the system gives it to one process, until that ends.
async function claim(port: number): Promise<Socket | undefined> {
  const socket = createSocket('udp4')
  const { promise, resolve, reject } = Promise.withResolvers<Socket | undefined>()
  socket.once('error', (error) => (isTaken(error) ? resolve(undefined) : reject(error)))
  socket.bind({ port, address: '127.0.0.1', exclusive: true }, () => resolve(socket.unref()))
  return promise
}

function isTaken(error: NodeJS.ErrnoException): boolean {
  return ['EADDRINUSE', 'EACCES'].includes(error.code ?? '')
}

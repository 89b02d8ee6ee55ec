import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

/**
 * A free TCP port on 127.0.0.1: the preferred one or the next free one above it; 0: any from 10000 to 29999. Systems
 * give higher ones to outgoing connections, and one of those could take the port of a server that is being restarted.
 */
export async function freePort(preferred: number): Promise<number> {
  const next = preferred === 0 ? () => randomInt(10_000, 30_000) : (attempt: number) => preferred + attempt
  for (let attempt = 0; attempt < 100; attempt++) {
    const port = next(attempt)
    if (!taken.has(port) && (await isFree(port))) {
      taken.add(port)
      return port
    }
  }
  throw new Error(`No free port found on 127.0.0.1${preferred === 0 ? '' : ` from ${preferred} to ${preferred + 99}`}.`)
}

// Servers are started at the same time: a port given away is not bound yet.
const taken = new Set<number>()

async function isFree(port: number): Promise<boolean> {
  const server = createServer()
  const { promise, resolve, reject } = Promise.withResolvers<boolean>()
  server.once('error', (error: NodeJS.ErrnoException) =>
    ['EADDRINUSE', 'EACCES'].includes(error.code ?? '') ? resolve(false) : reject(error),
  )
  server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  return promise
}

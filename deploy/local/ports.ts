import { createServer } from 'node:net'

/** A free TCP port on 127.0.0.1: the preferred one or the next free one above it; 0 lets the system choose. */
export async function freePort(preferred: number): Promise<number> {
  if (preferred === 0) return claim(0)
  for (let port = preferred; port < preferred + 100; port++) {
    if (taken.has(port)) continue
    try {
      return await claim(port)
    } catch (error) {
      if (!['EADDRINUSE', 'EACCES'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
    }
  }
  throw new Error(`No free port between ${preferred} and ${preferred + 99} on 127.0.0.1.`)
}

// Servers are started at the same time: a port given away is not bound yet.
const taken = new Set<number>()

async function claim(port: number): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', resolve)
  })
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  if (address === null || typeof address === 'string') throw new Error('A TCP address was expected.')
  if (port !== 0) taken.add(port)
  return address.port
}

import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { inject } from 'vitest'
import { claimed } from './support/servers.ts'

// The number that Vitest gives a worker is no claim: 4.1 gives two living ones the same after a change of groups.
claimed.index ??= await claim(inject('natsServers').map(({ claimPort }) => claimPort))

/** Claims one for as long as this process lives, which may be for several files. */
async function claim(ports: number[]): Promise<number> {
  if (ports.length === 1) return 0
  for (;;) {
    for (const [index, port] of ports.entries()) if (await listens(port)) return index
    // A former worker is about to end.
    await sleep(20)
  }
}

function listens(port: number): Promise<boolean> {
  const { promise, resolve, reject } = Promise.withResolvers<boolean>()
  const server = createServer().unref()
  server.once('error', (error: NodeJS.ErrnoException) => (error.code === 'EADDRINUSE' ? resolve(false) : reject(error)))
  server.listen(port, '127.0.0.1', () => resolve(true))
  return promise
}

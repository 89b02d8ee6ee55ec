import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'

/** A way to a server that can be cut and mended. */
export interface Proxy {
  /** The server's URL, by this way. */
  url: string
  /** Ends every connection and refuses new ones. */
  cut(): Promise<void>
  mend(): Promise<void>
}

export async function openProxy(target: string): Promise<Proxy> {
  const url = new URL(target)
  const [host, targetPort] = [url.hostname, Number(url.port || 5432)]
  const open = new Set<Socket>()
  let server: Server
  let port = 0
  const mend = async () => {
    server = createServer((socket) => {
      const other = connect(targetPort, host)
      for (const [from, to] of [
        [socket, other],
        [other, socket],
      ] as const) {
        open.add(from)
        from.on('error', () => {})
        from.on('close', () => (open.delete(from), to.destroy()))
        from.pipe(to)
      }
    }).listen(port, '127.0.0.1')
    await once(server, 'listening')
    port = (server.address() as AddressInfo).port
  }
  await mend()
  url.hostname = '127.0.0.1'
  url.port = String(port)
  return {
    url: url.href,
    mend,
    async cut() {
      const closed = once(server, 'close')
      server.close()
      for (const socket of open) socket.destroy()
      await closed
    },
  }
}

// postgres.js 3.4.9 writes to a socket that is gone (its issues 1066, 1154, 1208), which ends the process, and may never write
// again on a connection that it opens anew. Tests that end connections under load need it mended.
const driver = join(createRequire(import.meta.url).resolve('postgres'), '../../../src/connection.js')
export const driverSurvives = /function nextWrite\(fn\) \{\s*if \(!socket\)/.test(readFileSync(driver, 'utf8'))
export const unlessMended = driverSurvives ? '' : ' (skipped: postgres.js is not patched)'

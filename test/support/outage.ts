import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'

/** A way to a server that a test can cut and mend. */
export interface Proxy {
  /** The server's URL by this way. */
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

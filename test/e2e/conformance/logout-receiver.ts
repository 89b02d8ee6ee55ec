import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { TLSSocket } from 'node:tls'

export type LogoutReceiver = Awaited<ReturnType<typeof openLogoutReceiver>>

/** An application's place for back-channel logouts, at all addresses of this machine: it keeps what it gets. */
export async function openLogoutReceiver({ cert, key }: { cert: string; key: string }) {
  const received: {
    method?: string | undefined
    path?: string | undefined
    type?: string | undefined
    protocol: string | null
    body: string
  }[] = []
  const statuses: number[] = []
  const server = createServer({ cert: readFileSync(cert), key: readFileSync(key) }, async (request, response) => {
    const { method, url: path, headers, socket } = request
    const protocol = (socket as TLSSocket).getProtocol()
    received.push({ method, path, type: headers['content-type'], protocol, body: await text(request) })
    const status = statuses.shift() ?? 200
    // 0: it never answers.
    if (status > 0) response.writeHead(status).end()
  })
  server.listen(0)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    uriAt: (host: string, path = '/backchannel_logout') => `https://${host}:${port}${path}`,
    /** The tokens that came to a path. */
    tokensAt: (path = '/backchannel_logout') =>
      received.filter((each) => each.path === path).map(({ body }) => new URLSearchParams(body).get('logout_token')!),
    received,
    /** How it answers the next requests, one after the other. */
    answer: (...next: number[]) => void statuses.push(...next),
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

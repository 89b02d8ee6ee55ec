import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

/** A request that a receiver got. */
export interface Received {
  path: string
  headers: IncomingHttpHeaders
  body: string
  /** The parsed body. */
  event: any
  /** The status of the receiver's answer. */
  status: number
}

/** A receiver's reply: a status, possibly with headers, or after some work. */
export type Reply = number | { status: number; headers: Record<string, string> }

/** A real HTTP server that keeps the requests that it gets. */
export interface TestReceiver {
  /** For example `http://127.0.0.1:40123/hook`. */
  url: string
  received: Received[]
  /** The requests that it answered with 2xx. */
  taken(): Received[]
  /** Sets how it answers from now on. Default: 200 to every request. */
  answer(reply: (request: Omit<Received, 'status'>) => Reply | Promise<Reply>): void
  stop(): Promise<void>
}

/** Listens on a free port of 127.0.0.1. */
export async function startTestReceiver(): Promise<TestReceiver> {
  const received: Received[] = []
  let reply: (request: Omit<Received, 'status'>) => Reply | Promise<Reply> = () => 200
  const server = createServer(async (request, response) => {
    const body = await text(request)
    const got = { path: request.url!, headers: request.headers, body, event: JSON.parse(body) as unknown }
    const answer = await reply(got)
    const { status, headers } = typeof answer === 'number' ? { status: answer, headers: {} } : answer
    received.push({ ...got, status })
    response.writeHead(status, headers).end('thanks')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received,
    taken: () => received.filter(({ status }) => status >= 200 && status < 300),
    answer: (next) => void (reply = next),
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

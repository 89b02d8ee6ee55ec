import { createServer, type IncomingMessage, request as send } from 'node:http'
import { text } from 'node:stream/consumers'

/** A request of an application to Roster, or of the browser that it sent there. */
export interface Recorded {
  path: string
  /** Of the query, or of the form. */
  parameters: URLSearchParams
  authorization: string
}

/** Stands before a gateway at the address that is Roster's issuer, hands all on as it came, and keeps what came. */
export async function startRecorder(port: number, gateway: string) {
  const recorded: Recorded[] = []
  const server = createServer(async (incoming, outgoing) => {
    const { method, url = '/', headers } = incoming
    const body = method === 'GET' ? '' : await text(incoming)
    recorded.push(read(incoming, body))
    // With its Host: Roster sends browsers of another one away.
    const onward = send(new URL(url, gateway), { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode!, answer.headers)
      answer.pipe(outgoing)
    })
    onward.on('error', () => outgoing.destroy())
    onward.end(body)
  })
  await new Promise<void>((resolve) => server.listen(port, 'localhost', resolve))
  return {
    /** What came to a path since the last `forget`. */
    to: (path: string) => recorded.filter((each) => each.path === path),
    forget: () => recorded.splice(0),
    stop() {
      server.closeAllConnections()
      server.close()
    },
  }
}

function read({ url = '/', headers }: IncomingMessage, body: string): Recorded {
  const { pathname, searchParams } = new URL(url, 'http://localhost')
  const parameters = body ? new URLSearchParams(body) : searchParams
  return { path: pathname, parameters, authorization: headers.authorization ?? '' }
}

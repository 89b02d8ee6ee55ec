import type { RosterError } from '#lib/errors'
import type { Method } from '#lib/rpc/methods'
import { readBody } from '../../listen/body.ts'
import { readConnectTimeout } from '../timeout.ts'
import type { Gateway } from '../../call/gateway.ts'
import { performStream } from '../../call/perform-stream.ts'
import { errorHeaders, protective, send, sendHead } from '../../listen/answers.ts'
import { allowanceOf, arrive } from '../arrive.ts'
import type { Exchange } from '../../listen/exchange.ts'
import { frameAnswer, inflate, mayCompress, ways } from '../compression.ts'
import { frame, readFrame } from '../frames.ts'
import { writeOut } from '../write-out.ts'
import { checkVersion } from './check-version.ts'
import { readMessage, writeMessage } from './messages.ts'
import { toConnectError } from './errors.ts'

/** Answers a Connect call of one message with a stream, always with HTTP 200. Its last frame tells why it ended. */
export async function serveStream(gateway: Gateway, exchange: Exchange, method: Method, isJson: boolean) {
  const { request, response, header } = exchange
  const may = mayCompress(method, header('connect-accept-encoding'))
  const headers = {
    ...protective,
    'content-type': `application/connect+${isJson ? 'json' : 'proto'}`,
    'connect-accept-encoding': ways.connect.join(),
    ...(may && { 'connect-content-encoding': 'gzip' }),
  }
  const error = await performStream(
    gateway,
    arrive(gateway, exchange, method, 'connect', () => readConnectTimeout(header('connect-timeout-ms'))),
    async (values) => {
      checkVersion(header('connect-protocol-version'), '1')
      header('content-type')
      const allowance = allowanceOf(gateway, exchange, method)
      const body = await readBody(request, header('content-length'), allowance, allowance.bytes + 5)
      const framed = readFrame(body, allowance.bytes)
      const message = await inflate(framed, header('connect-content-encoding'), ways.connect, allowance)
      return readMessage(method, isJson, message, values)
    },
    {
      begin: () => sendHead(exchange, headers),
      async write(message, signal) {
        await writeOut(response, await frameAnswer(writeMessage(method, isJson, message), may, exchange.hold), signal)
      },
    },
  )
  const last = lastFrame(error)
  if (response.headersSent) response.end(last)
  else send(exchange, 200, headers, last)
}

function lastFrame(error: RosterError): Buffer {
  const metadata = Object.fromEntries(Object.entries(errorHeaders(error)).map(([name, value]) => [name, [value]]))
  return frame(2, Buffer.from(JSON.stringify({ error: toConnectError(error), metadata })))
}

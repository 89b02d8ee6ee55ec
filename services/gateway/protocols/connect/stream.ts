import type { RosterError } from '#lib/errors'
import type { Method } from '#lib/rpc/methods'
import type { Gateway } from '../../call/gateway.ts'
import { performStream } from '../../call/perform-stream.ts'
import { type Exchange, protective, send, sendHead } from '../../listen/exchange.ts'
import { arrive } from '../arrive.ts'
import { frameAnswer, mayCompress, compressions } from '../compression.ts'
import { errorHeaders } from '../error-headers.ts'
import { frame } from '../frames.ts'
import { readConnectTimeout } from '../timeout.ts'
import { writeOut } from '../write-out.ts'
import { toConnectError } from './errors.ts'
import { readCall, receiveFrame } from './read.ts'
import { writeMessage } from './write.ts'

/** Answers a Connect call of one message with a stream, always with HTTP 200. Its last frame says why it ended. */
export async function serveStream(gateway: Gateway, exchange: Exchange, method: Method, isJson: boolean) {
  const { response, header } = exchange
  const may = mayCompress(method, header('connect-accept-encoding'))
  const headers = {
    ...protective,
    'content-type': `application/connect+${isJson ? 'json' : 'proto'}`,
    'connect-accept-encoding': compressions.connect.join(),
    ...(may && { 'connect-content-encoding': 'gzip' }),
  }
  const error = await performStream(
    gateway,
    arrive(gateway, exchange, method, 'connect', readConnectTimeout),
    async (allowance, values) => (await readCall(exchange, method, receiveFrame(isJson), allowance, values)).request,
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

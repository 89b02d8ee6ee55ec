import type { Method } from '#lib/rpc/methods'
import type { Gateway } from '../../call/gateway.ts'
import { performStream } from '../../call/perform-stream.ts'
import { type Exchange, send, sendHead } from '../../listen/exchange.ts'
import { arrive } from '../arrive.ts'
import { frameAnswer, mayCompress } from '../compression.ts'
import { readGrpcTimeout } from '../timeout.ts'
import { writeOut } from '../write-out.ts'
import { errorTrailers } from './errors.ts'
import { readCall } from './read.ts'
import { headersOf, pack, trailerFrame } from './write.ts'

/** Answers a call of one message with a stream. Each frame is base64 by itself, so that a client can read it at once. */
export async function serveStream(gateway: Gateway, exchange: Exchange, method: Method, text: boolean): Promise<void> {
  const { response } = exchange
  const may = mayCompress(method, exchange.header('grpc-accept-encoding'))
  const end = await performStream(
    gateway,
    arrive(gateway, exchange, method, 'grpc-web', readGrpcTimeout),
    (allowance, values) => readCall(exchange, method, text, allowance, values),
    {
      begin: () => sendHead(exchange, headersOf(text, may)),
      async write(message, signal) {
        await writeOut(response, pack(await frameAnswer(message, may, exchange.hold), text), signal)
      },
    },
  )
  const trailers = pack(trailerFrame(errorTrailers(end), exchange.requestId), text)
  if (response.headersSent) response.end(trailers)
  else send(exchange, 200, headersOf(text, may), trailers)
}

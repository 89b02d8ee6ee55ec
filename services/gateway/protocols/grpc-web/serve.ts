import { RosterError, toRosterError } from '#lib/errors'
import { measureCall } from '#lib/rpc/measures'
import type { Method } from '#lib/rpc/methods'
import type { Gateway } from '../../call/gateway.ts'
import { perform } from '../../call/perform.ts'
import { type Exchange, send } from '../../listen/exchange.ts'
import { admitOther, arrive } from '../arrive.ts'
import { frameAnswer, mayCompress } from '../compression.ts'
import { unknownMethod } from '../grpc/errors.ts'
import { readGrpcTimeout } from '../timeout.ts'
import { errorTrailers } from './errors.ts'
import { readCall } from './read.ts'
import { serveStream } from './stream.ts'
import { headersOf, pack, trailerFrame } from './write.ts'

const contentType = /^application\/grpc-web(-text)?(\+proto)?(;.*)?$/i

/** Whether a content type makes a request gRPC-web. */
export function isGrpcWeb(type: string | undefined): boolean {
  return type !== undefined && contentType.test(type)
}

/**
 * Answers a gRPC-web call, binary or text, with HTTP 200. The body is the message, unless the call failed, and a
 * trailer frame. Without a method the answer is UNIMPLEMENTED.
 */
export async function serveGrpcWeb(gateway: Gateway, exchange: Exchange, method: Method | undefined): Promise<void> {
  const text = contentType.exec(exchange.request.headers['content-type']!)?.[1] !== undefined
  if (!method) return sendError(exchange, refuseUnknown(gateway, exchange), text, false)
  if (method.streams) return serveStream(gateway, exchange, method, text)
  const answer = await perform(
    gateway,
    arrive(gateway, exchange, method, 'grpc-web', readGrpcTimeout),
    (allowance, values) => readCall(exchange, method, text, allowance, values),
    (bytes, headers) => {
      Object.assign(exchange.headers, headers)
      return bytes
    },
  )
  const may = mayCompress(method, exchange.header('grpc-accept-encoding'))
  if (answer instanceof RosterError) return sendError(exchange, answer, text, may)
  const frames = Buffer.concat([
    await frameAnswer(answer, may, exchange.hold),
    trailerFrame({ 'grpc-status': '0' }, exchange.requestId),
  ])
  send(exchange, 200, headersOf(text, may), pack(frames, text))
}

function sendError(exchange: Exchange, error: RosterError, text: boolean, may: boolean): void {
  const frame = trailerFrame(errorTrailers(error), exchange.requestId)
  send(exchange, 200, headersOf(text, may), pack(frame, text))
}

// A request that is not admitted is answered as any other one.
function refuseUnknown(gateway: Gateway, exchange: Exchange): RosterError {
  const began = performance.now()
  let error = unknownMethod(exchange.path)
  try {
    admitOther(gateway, exchange)
    return error
  } catch (thrown) {
    error = toRosterError(thrown)
    throw error
  } finally {
    measureCall('_OTHER', 'grpc-web', began, error.code)
  }
}

import { RosterError, toRosterError } from '#lib/errors'
import { measureCall } from '#lib/rpc/measures'
import type { Method } from '#lib/rpc/methods'
import { encodeStatus } from '#lib/status'
import { readBody } from '../../listen/body.ts'
import { readGrpcTimeout } from '../timeout.ts'
import type { Gateway } from '../../call/gateway.ts'
import { performStream } from '../../call/perform-stream.ts'
import { perform } from '../../call/perform.ts'
import { errorHeaders, protective, send, sendHead } from '../../listen/answers.ts'
import { allowanceOf, arrive, letIn } from '../arrive.ts'
import type { Exchange } from '../../listen/exchange.ts'
import { frameAnswer, inflate, mayCompress, takenCompressions, ways } from '../compression.ts'
import { frame, frameMalformed, readFrame } from '../frames.ts'
import { encodeMessage, unknownMethod } from '../grpc/errors.ts'
import type { ValueLimit } from '../../rate-limits/value-limit.ts'
import { limitValues } from '../wire-values.ts'
import { writeOut } from '../write-out.ts'

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
  if (method?.streams) return streamGrpcWeb(gateway, exchange, method, text)
  const answer = method
    ? await perform(
        gateway,
        arrive(gateway, exchange, method, 'grpc-web', (header) => readGrpcTimeout(header('grpc-timeout'))),
        (values) => readMessage(gateway, exchange, method, text, values),
        (bytes, headers) => {
          Object.assign(exchange.headers, headers)
          return bytes
        },
      )
    : refuseUnknown(gateway, exchange)
  const may = mayCompressFor(exchange, method)
  const frames =
    answer instanceof RosterError
      ? trailerFrame(errorTrailers(answer), exchange.requestId)
      : Buffer.concat([
          await frameAnswer(answer, may, exchange.hold),
          trailerFrame({ 'grpc-status': '0' }, exchange.requestId),
        ])
  send(exchange, 200, headersOf(text, may), pack(frames, text))
}

// A request that is not let in is answered as any other one.
function refuseUnknown(gateway: Gateway, exchange: Exchange): RosterError {
  const began = performance.now()
  let error = unknownMethod(exchange.path)
  try {
    letIn(gateway, exchange, 'public')
    return error
  } catch (thrown) {
    error = toRosterError(thrown)
    throw error
  } finally {
    measureCall('_OTHER', 'grpc-web', began, error.code)
  }
}

// Each frame is base64 by itself, so that a client can read it when it arrives.
async function streamGrpcWeb(gateway: Gateway, exchange: Exchange, method: Method, text: boolean): Promise<void> {
  const { response } = exchange
  const may = mayCompressFor(exchange, method)
  const end = await performStream(
    gateway,
    arrive(gateway, exchange, method, 'grpc-web', (header) => readGrpcTimeout(header('grpc-timeout'))),
    (values) => readMessage(gateway, exchange, method, text, values),
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

function mayCompressFor({ header }: Exchange, method: Method | undefined): boolean {
  return method !== undefined && mayCompress(method, header('grpc-accept-encoding'))
}

function headersOf(text: boolean, compressed: boolean) {
  return {
    ...protective,
    'content-type': `application/grpc-web${text ? '-text' : ''}+proto`,
    'grpc-accept-encoding': takenCompressions,
    ...(compressed && { 'grpc-encoding': 'gzip' }),
  }
}

function pack(frames: Buffer, text: boolean): Buffer | string {
  return text ? frames.toString('base64') : frames
}

const mostPieces = 1_000

/** Decodes base64 text. It may consist of several pieces, each padded by itself. */
export function decodeText(text: string): Uint8Array {
  const pieces: Buffer[] = []
  let length = 0
  for (const [piece] of text.matchAll(/[A-Za-z0-9+/]+={0,2}/g)) {
    length += piece.length
    if (piece.length % 4 !== 0) throw frameMalformed('it is not base64')
    if (pieces.push(Buffer.from(piece, 'base64')) > mostPieces) throw frameMalformed('it comes in too many pieces')
  }
  if (length !== text.length) throw frameMalformed('it is not base64')
  return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces)
}

async function readMessage(
  gateway: Gateway,
  exchange: Exchange,
  method: Method,
  text: boolean,
  values: ValueLimit,
): Promise<Uint8Array> {
  const { request, header } = exchange
  header('content-type')
  const allowance = allowanceOf(gateway, exchange, method)
  const limit = allowance.bytes + 5
  const body = await readBody(request, header('content-length'), allowance, text ? Math.ceil(limit / 3) * 4 : limit)
  const framed = readFrame(text ? decodeText(body.toString('latin1')) : body, allowance.bytes)
  const message = await inflate(framed, header('grpc-encoding'), ways.grpc, allowance)
  return limitValues(method.desc.input, message, values)
}

function errorTrailers(error: RosterError): Record<string, string> {
  return {
    'grpc-status': String(error.code),
    'grpc-message': encodeMessage(error.message),
    'grpc-status-details-bin': Buffer.from(encodeStatus(error)).toString('base64').replace(/=+$/, ''),
    ...errorHeaders(error),
  }
}

function trailerFrame(trailers: Record<string, string>, requestId: string): Buffer {
  const lines = Object.entries({ ...trailers, 'x-request-id': requestId }).map(
    ([name, value]) => `${name}:${value}\r\n`,
  )
  return frame(0x80, Buffer.from(lines.join('')))
}

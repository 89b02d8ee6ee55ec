import { RosterError } from '#lib/errors'
import type { Method } from '#lib/rpc/methods'
import { encodeStatus } from '#lib/status'
import { errorHeaders, protective, send } from '../http/answers.ts'
import type { Exchange } from '../http/exchange.ts'
import { readBody, tooLarge } from '../arrival/body.ts'
import type { Gateway } from '../calls/gateway.ts'
import { perform } from '../calls/perform.ts'
import { allowanceOf, arrive, letIn } from '../http/arrive.ts'
import { performStream } from '../calls/perform-stream.ts'
import { readGrpcTimeout } from '../arrival/timeout.ts'
import { writeOut } from './write-out.ts'
import { limitValues } from './wire-values.ts'

const contentType = /^application\/grpc-web(-text)?(\+proto)?(;.*)?$/i

/** Whether a content type makes a request gRPC-web. */
export function isGrpcWeb(type: string | undefined): boolean {
  return type !== undefined && contentType.test(type)
}

/**
 * Answers a gRPC-web call, binary or text: HTTP 200, the message where there is one, and always a trailer frame. Without a
 * method: UNIMPLEMENTED.
 */
export async function serveGrpcWeb(gateway: Gateway, exchange: Exchange, method: Method | undefined): Promise<void> {
  const text = contentType.exec(exchange.request.headers['content-type']!)?.[1] !== undefined
  if (method?.streams) return streamGrpcWeb(gateway, exchange, method, text)
  if (!method) letIn(gateway, exchange, 'public')
  const answer = method
    ? await perform(
        gateway,
        arrive(gateway, exchange, method, 'grpc-web', (header) => readGrpcTimeout(header('grpc-timeout'))),
        () => readMessage(gateway, exchange, method, text),
        (bytes, headers) => {
          Object.assign(exchange.headers, headers)
          return bytes
        },
      )
    : unknownMethod()
  const frames =
    answer instanceof RosterError
      ? trailerFrame(errorTrailers(answer), exchange.requestId)
      : Buffer.concat([frame(0, answer), trailerFrame({ 'grpc-status': '0' }, exchange.requestId)])
  send(exchange, 200, headersOf(text), pack(frames, text))
}

// Each frame is base64 by itself: a client reads it as it comes.
async function streamGrpcWeb(gateway: Gateway, exchange: Exchange, method: Method, text: boolean): Promise<void> {
  const { response } = exchange
  const end = await performStream(
    gateway,
    arrive(gateway, exchange, method, 'grpc-web', (header) => readGrpcTimeout(header('grpc-timeout'))),
    () => readMessage(gateway, exchange, method, text),
    async (message, signal) => {
      if (!response.headersSent) response.writeHead(200, { ...exchange.headers, ...headersOf(text) })
      await writeOut(response, pack(frame(0, message), text), signal)
    },
  )
  const trailers = pack(trailerFrame(errorTrailers(end), exchange.requestId), text)
  if (response.headersSent) response.end(trailers)
  else send(exchange, 200, headersOf(text), trailers)
}

function headersOf(text: boolean) {
  return { ...protective, 'content-type': `application/grpc-web${text ? '-text' : ''}+proto` }
}

function pack(frames: Buffer, text: boolean): Buffer | string {
  return text ? frames.toString('base64') : frames
}

/** UNIMPLEMENTED for a gRPC path that leads nowhere. */
export function unknownMethod(): RosterError {
  return new RosterError('UNIMPLEMENTED', 'METHOD_UNKNOWN', 'There is no such method.')
}

/**
 * The one message of a body of gRPC or gRPC-web frames, of up to `limit` bytes, and whether it is compressed. INVALID_ARGUMENT
 * FRAME_MALFORMED; RESOURCE_EXHAUSTED REQUEST_TOO_LARGE.
 */
export function readFrame(body: Uint8Array, limit: number): { message: Uint8Array; isCompressed: boolean } {
  if (body.length < 5) throw malformed('it has no whole frame')
  if (body[0]! > 1) throw malformed('its first frame is no message')
  const length = new DataView(body.buffer, body.byteOffset).getUint32(1)
  if (length > limit) throw tooLarge(limit)
  if (length > body.length - 5) throw malformed('its frame is longer than the body')
  if (length < body.length - 5) throw malformed('something follows its message')
  return { message: body.subarray(5), isCompressed: body[0] === 1 }
}

const mostPieces = 1_000

/** Bytes of base64 text, of which several pieces, each padded by itself, may follow one another. */
export function decodeText(text: string): Uint8Array {
  const pieces: Buffer[] = []
  let length = 0
  for (const [piece] of text.matchAll(/[A-Za-z0-9+/]+={0,2}/g)) {
    length += piece.length
    if (piece.length % 4 !== 0) throw malformed('it is no base64')
    if (pieces.push(Buffer.from(piece, 'base64')) > mostPieces) throw malformed('it comes in too many pieces')
  }
  if (length !== text.length) throw malformed('it is no base64')
  return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces)
}

async function readMessage(gateway: Gateway, exchange: Exchange, method: Method, text: boolean): Promise<Uint8Array> {
  const { request, header } = exchange
  header('content-type')
  const allowance = allowanceOf(gateway, exchange, method)
  const limit = allowance.bytes + 5
  const body = await readBody(request, header('content-length'), allowance, text ? Math.ceil(limit / 3) * 4 : limit)
  const { message, isCompressed } = readFrame(text ? decodeText(body.toString('latin1')) : body, allowance.bytes)
  if (isCompressed) throw compressionUnsupported()
  return limitValues(method.desc.input, message)
}

/** The error of a message that is compressed in a way that is not taken. */
export function compressionUnsupported(): RosterError {
  return new RosterError(
    'UNIMPLEMENTED',
    'COMPRESSION_UNSUPPORTED',
    'The message is compressed in a way that is not taken.',
  )
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

/** A frame around a message. */
export function frame(flag: number, payload: Uint8Array): Buffer {
  const bytes = Buffer.allocUnsafe(payload.length + 5)
  bytes[0] = flag
  bytes.writeUInt32BE(payload.length, 1)
  bytes.set(payload, 5)
  return bytes
}

/** Percent-encodes what `grpc-message` cannot hold: all but visible ASCII and blanks, and the percent sign. */
export function encodeMessage(message: string): string {
  return message.toWellFormed().replace(/[^\x20-\x24\x26-\x7e]+/g, (part) => percentEncode(part))
}

function percentEncode(part: string): string {
  return [...Buffer.from(part)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('')
}

function malformed(problem: string) {
  return new RosterError('INVALID_ARGUMENT', 'FRAME_MALFORMED', `The body is no gRPC-web call: ${problem}.`)
}

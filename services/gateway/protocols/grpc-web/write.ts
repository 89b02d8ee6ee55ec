import { protective } from '../../listen/exchange.ts'
import { acceptedCompressions } from '../compression.ts'
import { frame } from '../frames.ts'

/** The headers of an answer. Its messages may be compressed. */
export function headersOf(text: boolean, compressed: boolean) {
  return {
    ...protective,
    'content-type': `application/grpc-web${text ? '-text' : ''}+proto`,
    'grpc-accept-encoding': acceptedCompressions,
    ...(compressed && { 'grpc-encoding': 'gzip' }),
  }
}

/** The frames of an answer as its client reads them. */
export function pack(frames: Buffer, text: boolean): Buffer | string {
  return text ? frames.toString('base64') : frames
}

/** The frame that ends an answer. */
export function trailerFrame(trailers: Record<string, string>, requestId: string): Buffer {
  const lines = Object.entries({ ...trailers, 'x-request-id': requestId }).map(
    ([name, value]) => `${name}:${value}\r\n`,
  )
  return frame(0x80, Buffer.from(lines.join('')))
}

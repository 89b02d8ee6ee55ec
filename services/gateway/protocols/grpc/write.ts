import type { ServerHttp2Stream } from 'node:http2'
import type { RosterError } from '#lib/errors'
import type { Incoming } from '../../listen/admission.ts'
import type { Header } from '../../listen/headers.ts'
import { acceptedCompressions } from '../compression.ts'
import { toGrpcTrailers } from './errors.ts'

/** A gRPC call on a stream of its own. */
export interface Call extends Incoming {
  stream: ServerHttp2Stream
  header: Header
  requestId: string
  /** The answer is complete. The stream itself counts as ended also where its client went away. */
  answered: boolean
}

const headOf = ({ requestId }: Call) => ({
  ':status': 200,
  'content-type': 'application/grpc+proto',
  'grpc-accept-encoding': acceptedCompressions,
  'x-request-id': requestId,
})

/** Begins the answer, unless the client has gone. Its messages may be compressed. */
export function begin(call: Call, mayCompress: boolean, headers?: Record<string, string>): void {
  const { stream } = call
  if (stream.destroyed || stream.closed) return
  const encoding = mayCompress && { 'grpc-encoding': 'gzip' }
  stream.respond({ ...headOf(call), ...headers, ...encoding }, { waitForTrailers: true })
}

/** Ends the call, with OK or with an error. `message`: the last message. */
export function end(call: Call, error?: RosterError, message?: Buffer): void {
  const { stream } = call
  call.answered = true
  if (stream.destroyed || stream.closed) return
  const trailers = error ? toGrpcTrailers(error) : { 'grpc-status': '0' }
  if (stream.headersSent) {
    stream.on('wantTrailers', () => stream.sendTrailers(trailers))
    stream.end(message)
  } else stream.respond({ ...headOf(call), ...trailers }, { endStream: true })
}

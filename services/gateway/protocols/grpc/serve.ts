import type { IncomingHttpHeaders } from 'node:http'
import type { ServerHttp2Stream } from 'node:http2'
import { RosterError } from '#lib/errors'
import { measureCall } from '#lib/rpc/measures'
import type { Method } from '#lib/rpc/methods'
import { admit } from '../../listen/admission.ts'
import { allow, readBody } from '../../listen/body.ts'
import { type Header, readHeaders } from '../../listen/headers.ts'
import { requestIdOf } from '../../listen/request-id.ts'
import { readGrpcTimeout } from '../timeout.ts'
import type { Arrival } from '../../call/arrived-call.ts'
import type { Gateway } from '../../call/gateway.ts'
import { performStream } from '../../call/perform-stream.ts'
import { perform } from '../../call/perform.ts'
import { byGrpcPath } from '../../call/routes.ts'
import type { Hold, Kind } from '../../rate-limits/under-way.ts'
import { frameAnswer, inflate, mayCompress, takenCompressions, ways } from '../compression.ts'
import { readFrame } from '../frames.ts'
import { toGrpcTrailers, unknownMethod } from './errors.ts'
import type { ValueLimit } from '../../rate-limits/value-limit.ts'
import { limitValues } from '../wire-values.ts'
import { writeOut } from '../write-out.ts'

/** A gRPC call on a stream of its own. */
interface Call {
  stream: ServerHttp2Stream
  header: Header
  requestId: string
  clientAddress: string
  /** Lets the call in. Errors of `admit`. */
  admit(kind: Kind): Hold
  /** The answer is complete. The stream itself counts as ended also where its client went away. */
  answered: boolean
}

/** Answers gRPC calls of the offered methods. It reads a message only once the caller is identified. */
export function createGrpcHandler(gateway: Gateway) {
  return (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, raw: string[]): void => {
    const call = open(gateway, stream, headers, raw)
    const path = headers[':path'] as string
    const method = byGrpcPath.get(path)
    if (!method) {
      const began = performance.now()
      const error = tryAdmit(call, 'public') ?? unknownMethod(path)
      end(call, error)
      measureCall('_OTHER', 'grpc', began, error.code)
    } else void (method.streams ? serveStream : serveUnary)(gateway, call, method)
  }
}

/** Lets calls of health and reflection begin while the share of streams that anybody may keep open has room. */
export function createWatchGuard(gateway: Gateway) {
  return (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, raw: string[]): boolean => {
    const call = open(gateway, stream, headers, raw)
    const error = tryAdmit(call, 'watch')
    if (error) end(call, error)
    return !error
  }
}

function open(gateway: Gateway, stream: ServerHttp2Stream, headers: IncomingHttpHeaders, raw: string[]): Call {
  // A reset is an error too. The call that it ends hears of it by `close`.
  stream.on('error', () => {})
  const header = readHeaders(headers, raw)
  const peerAddress = stream.session?.socket.remoteAddress ?? ''
  const clientAddress = gateway.clientAddresses({ header, peerAddress })
  const requestId = requestIdOf(header('x-request-id'))
  return {
    stream,
    header,
    requestId,
    clientAddress,
    admit(kind) {
      const origin = { connection: stream.session ?? stream, address: clientAddress, raw }
      return admit(gateway, kind, origin, (ended) => stream.on('close', ended))
    },
    answered: false,
  }
}

function tryAdmit(call: Call, kind: Kind): RosterError | undefined {
  try {
    call.admit(kind)
    return undefined
  } catch (error) {
    return error as RosterError
  }
}

async function serveUnary(gateway: Gateway, call: Call, method: Method): Promise<void> {
  const { arrival, read, held } = arrive(gateway, call, method)
  let head: Record<string, string> = {}
  const answer = await perform(gateway, arrival, read, (bytes, headers) => {
    head = headers
    return bytes
  })
  if (answer instanceof RosterError) return end(call, answer)
  held()?.add(answer.length)
  const { may, headers } = compressionOf(call, method)
  const framed = await frameAnswer(answer, may, held())
  begin(call, { ...head, ...headers })
  end(call, undefined, framed)
}

async function serveStream(gateway: Gateway, call: Call, method: Method): Promise<void> {
  const { arrival, read, held } = arrive(gateway, call, method)
  const { may, headers } = compressionOf(call, method)
  const error = await performStream(gateway, arrival, read, {
    begin: () => begin(call, headers),
    async write(message, signal) {
      await writeOut(call.stream, await frameAnswer(message, may, held()), signal)
    },
  })
  end(call, error)
}

function compressionOf({ header }: Call, method: Method) {
  const may = mayCompress(method, header('grpc-accept-encoding'))
  return { may, headers: may ? { 'grpc-encoding': 'gzip' } : undefined }
}

function arrive(gateway: Gateway, call: Call, method: Method) {
  const { stream, header, requestId, clientAddress, admit } = call
  const gone = new AbortController()
  stream.on('close', () => {
    if (!call.answered) gone.abort()
  })
  let hold: Hold | undefined
  const arrival: Arrival = {
    method,
    encoding: 'grpc',
    requestId,
    verb: 'POST',
    path: method.path,
    header,
    admit: () => void (hold = admit(method.access.rule === 'public' ? 'public' : 'call')),
    timeout: () => shorten(readGrpcTimeout(header('grpc-timeout'))),
    clientAddress,
    signal: gone.signal,
  }
  const read = async (values: ValueLimit) => {
    header('content-type')
    const allowance = allow(gateway.config, method, hold!)
    const body = await readBody(stream, header('content-length'), allowance, allowance.bytes + 5)
    const message = await inflate(readFrame(body, allowance.bytes), header('grpc-encoding'), ways.grpc, allowance)
    return limitValues(method.desc.input, message, values)
  }
  return { arrival, read, held: () => hold }
}

// Waits a little less than the client does. Else the client's own clock would end the call, and it would get no
// details.
function shorten(timeout: number | undefined): number | undefined {
  return timeout === undefined ? undefined : timeout - Math.min(10, timeout / 10)
}

const headOf = ({ requestId }: Call) => ({
  ':status': 200,
  'content-type': 'application/grpc+proto',
  'grpc-accept-encoding': takenCompressions,
  'x-request-id': requestId,
})

/** Begins the answer, unless the client has gone. */
function begin(call: Call, headers: Record<string, string> | undefined): void {
  const { stream } = call
  if (stream.destroyed || stream.closed) return
  stream.respond({ ...headOf(call), ...headers }, { waitForTrailers: true })
}

/** Ends the call, with OK or with an error. `message`: the last message. */
function end(call: Call, error?: RosterError, message?: Buffer): void {
  const { stream } = call
  call.answered = true
  if (stream.destroyed || stream.closed) return
  const trailers = error ? toGrpcTrailers(error) : { 'grpc-status': '0' }
  if (stream.headersSent) {
    stream.on('wantTrailers', () => stream.sendTrailers(trailers))
    stream.end(message)
  } else stream.respond({ ...headOf(call), ...trailers }, { endStream: true })
}

import type { IncomingHttpHeaders } from 'node:http'
import type { ServerHttp2Stream } from 'node:http2'
import { RosterError } from '#lib/errors'
import { measureCall } from '#lib/rpc/measures'
import type { Method } from '#lib/rpc/methods'
import type { Arrival } from '../../call/arrived-call.ts'
import type { Gateway } from '../../call/gateway.ts'
import { perform } from '../../call/perform.ts'
import { byGrpcPath } from '../../call/routes.ts'
import { admit } from '../../listen/admission.ts'
import { type Header, readHeaders, requestIdOf } from '../../listen/headers.ts'
import type { Kind } from '../../rate-limits/under-way.ts'
import { frameAnswer, mayCompress } from '../compression.ts'
import { readGrpcTimeout } from '../timeout.ts'
import { unknownMethod } from './errors.ts'
import { readCall } from './read.ts'
import { serveStream } from './stream.ts'
import { begin, type Call, end } from './write.ts'

/** Answers gRPC calls of the offered methods. It reads a message only once the caller is identified. */
export function createGrpcHandler(gateway: Gateway) {
  return (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, raw: string[]): void => {
    const call = open(stream, headers, raw)
    const path = headers[':path'] as string
    const method = byGrpcPath.get(path)
    if (!method) {
      const began = performance.now()
      const error = tryAdmit(gateway, call, 'public') ?? unknownMethod(path)
      end(call, error)
      measureCall('_OTHER', 'grpc', began, error.code)
    } else void (method.streams ? serveStream : serveUnary)(gateway, call, arrive(gateway, call, method))
  }
}

/** Lets calls of health and reflection begin while the share of streams that any client may keep open has room. */
export function createWatchGuard(gateway: Gateway) {
  return (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, raw: string[]): boolean => {
    const call = open(stream, headers, raw)
    const error = tryAdmit(gateway, call, 'watch')
    if (error) end(call, error)
    return !error
  }
}

function open(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, raw: string[]): Call {
  // A reset is an error too. The call that it ends gets a `close`.
  stream.on('error', () => {})
  const header = readHeaders(headers, raw)
  return {
    stream,
    header,
    requestId: requestIdOf(header('x-request-id')),
    raw,
    addressLength: 0,
    connection: stream.session ?? stream,
    ending: stream,
    hold: undefined,
    answered: false,
  }
}

function tryAdmit(gateway: Gateway, call: Call, kind: Kind): RosterError | undefined {
  try {
    admit(gateway, kind, call, addressOf(gateway, call))
    return undefined
  } catch (error) {
    return error as RosterError
  }
}

function addressOf({ clientAddresses }: Gateway, { stream, header }: Call): string {
  return clientAddresses({ header, peerAddress: stream.session?.socket.remoteAddress ?? '' })
}

function arrive(gateway: Gateway, call: Call, method: Method): Arrival {
  const { stream, header, requestId } = call
  const gone = new AbortController()
  stream.on('close', () => {
    if (!call.answered) gone.abort()
  })
  return {
    method,
    encoding: 'grpc',
    requestId,
    verb: 'POST',
    path: method.path,
    header,
    incoming: call,
    timeout: shortTimeout,
    clientAddress: addressOf(gateway, call),
    signal: gone.signal,
  }
}

// Waits a little less than the client does. Else the client's own clock would end the call, and it would get no
// details.
function shortTimeout(header: Header): number | undefined {
  const timeout = readGrpcTimeout(header)
  return timeout === undefined ? undefined : timeout - Math.min(10, timeout / 10)
}

async function serveUnary(gateway: Gateway, call: Call, arrival: Arrival): Promise<void> {
  const { method } = arrival
  let head: Record<string, string> = {}
  const answer = await perform(
    gateway,
    arrival,
    (allowance, values) => readCall(call, method, allowance, values),
    (bytes, headers) => {
      head = headers
      return bytes
    },
  )
  if (answer instanceof RosterError) return end(call, answer)
  call.hold?.add(answer.length)
  const may = mayCompress(method, call.header('grpc-accept-encoding'))
  const framed = await frameAnswer(answer, may, call.hold)
  begin(call, may, head)
  end(call, undefined, framed)
}

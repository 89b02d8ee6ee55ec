import {
  type Deadline,
  type handleServerStreamingCall,
  type handleUnaryCall,
  logVerbosity,
  Metadata,
  type sendUnaryData,
  Server,
  type ServerUnaryCall,
  type ServerWritableStream,
  setLogVerbosity,
} from '@grpc/grpc-js'
import { RosterError } from '#lib/errors'
import type { Method } from '#lib/rpc/methods'
import { maxRequestBytes } from '../body.ts'
import { type Arrival, type Gateway, perform, requestIdOf } from '../calls.ts'
import { offered } from '../routes.ts'
import { performStream } from '../streams.ts'
import { writeOut } from '../write-out.ts'
import { catchUnknownPaths, guardCalls, toGrpcStatus } from './grpc-guard.ts'

/** A gRPC server that passes the bytes of every offered method on. It listens nowhere: connections are injected. */
export function createGrpcServer(gateway: Gateway): Server {
  // Its own log shows metadata, and so tokens.
  setLogVerbosity(logVerbosity.NONE)
  const server = new Server({
    'grpc.enable_channelz': 0,
    'grpc.max_concurrent_streams': 256,
    'grpc.max_receive_message_length': maxRequestBytes,
    'grpc.max_send_message_length': -1,
    'grpc.max_connection_idle_ms': 300_000,
    // Streams that a client never ends go with their connection.
    'grpc.max_connection_age_ms': 3_600_000,
    'grpc.max_connection_age_grace_ms': Math.max(
      gateway.config.MAX_CALL_TIMEOUT_MS,
      gateway.config.STREAM_MAX_AGE_MS + 1000,
    ),
    'grpc.keepalive_time_ms': 60_000,
    'grpc.keepalive_timeout_ms': 20_000,
    interceptors: [guardCalls(gateway.config.REQUEST_TIMEOUT_MS)],
  })
  const same = (bytes: Buffer) => bytes
  for (const method of offered) {
    const handle: handleUnaryCall<Buffer, Buffer> = (call, callback) => void serveGrpc(gateway, method, call, callback)
    const stream: handleServerStreamingCall<Buffer, Buffer> = (call) => void streamGrpc(gateway, method, call)
    if (method.streams) server.register(method.path, stream, same, same, 'serverStream')
    else server.register(method.path, handle, same, same, 'unary')
  }
  catchUnknownPaths(server)
  return server
}

async function serveGrpc(
  gateway: Gateway,
  method: Method,
  call: ServerUnaryCall<Buffer, Buffer>,
  callback: sendUnaryData<Buffer>,
): Promise<void> {
  const gone = new AbortController()
  const leave = () => gone.abort()
  call.once('cancelled', leave)
  const arrival = arrive(method, call, gone.signal)
  const metadata = new Metadata()
  const answer = await perform(
    gateway,
    arrival,
    () => call.request,
    (bytes, headers) => {
      for (const [name, value] of Object.entries({ ...headers, 'x-request-id': arrival.requestId }))
        metadata.set(name, value)
      return toBuffer(bytes)
    },
  )
  // It is emitted after an answer too.
  call.off('cancelled', leave)
  if (answer instanceof RosterError) return callback(toGrpcStatus(answer, arrival.requestId))
  call.sendMetadata(metadata)
  callback(null, answer)
}

async function streamGrpc(gateway: Gateway, method: Method, call: ServerWritableStream<Buffer, Buffer>): Promise<void> {
  const gone = new AbortController()
  call.once('cancelled', () => gone.abort())
  const arrival = arrive(method, call, gone.signal)
  const metadata = new Metadata()
  metadata.set('x-request-id', arrival.requestId)
  const end = await performStream(
    gateway,
    arrival,
    () => call.request,
    async (message, signal) => {
      call.sendMetadata(metadata)
      await writeOut(call, toBuffer(message), signal)
    },
  )
  call.emit('error', toGrpcStatus(end, arrival.requestId))
}

type ServerCall = ServerUnaryCall<Buffer, Buffer> | ServerWritableStream<Buffer, Buffer>

function arrive(method: Method, call: ServerCall, signal: AbortSignal): Arrival {
  const header = (name: string) => call.metadata.get(name)[0]?.toString()
  const peer = call.getPeer()
  return {
    method,
    encoding: 'grpc',
    requestId: requestIdOf(header('x-request-id')),
    header,
    timeout: () => timeLeft(call.getDeadline()),
    peerAddress: peer.slice(0, peer.lastIndexOf(':')),
    signal,
  }
}

// A hair less than the client waits, so that it gets the answer with its details rather than its own clock's.
function timeLeft(deadline: Deadline): number | undefined {
  const left = Number(deadline) - Date.now()
  return left === Infinity ? undefined : left - Math.min(10, left / 10)
}

function toBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
}

import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { constants, createServer, type Http2Server, type ServerHttp2Stream } from 'node:http2'
import type { Server } from '@grpc/grpc-js'
import { unreadBytes } from '../rate-limits/under-way.ts'

type OnStream = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, flags: number, rawHeaders: string[]) => void

export interface StreamHandlers {
  /** Serves a request that is no gRPC, in the shape of HTTP/1.1. */
  http(request: IncomingMessage, response: ServerResponse): void
  grpc(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, rawHeaders: string[]): void
  /** Says whether a call of health or reflection may begin. Answers the call where it may not. */
  admit(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, rawHeaders: string[]): boolean
}

const grpcType = /^application\/grpc(\+proto)? *(;.*)?$/i
const ownServices = /^\/grpc\.(health|reflection)\./

/**
 * Takes over the streams of a gRPC server's HTTP/2 connections. The server keeps the connections, health and
 * reflection. It must not have the other calls: it would read the whole message of any client before anything is
 * checked. A client that does not read an answer for `patience` milliseconds is cut off. Call this once connections can
 * be injected.
 *
 * grpc-js offers no way to share its connections. Should a later version keep its servers elsewhere, it would answer
 * all streams by itself again, and tests would fail.
 */
export function shareStreams(grpc: Server, handlers: StreamHandlers, patience: number): void {
  const servers: unknown = Reflect.get(grpc, 'http2Servers')
  if (!(servers instanceof Map)) return
  // Report each stream to the server: else it would close a connection in use as idle.
  const opened = Reflect.get(grpc, 'onStreamOpened') as ((stream: ServerHttp2Stream) => void) | undefined
  const others = createServer()
  others.on('request', (request, response) => {
    // A reset is an error of the request too, and an error without a listener would end the process.
    request.on('error', () => {})
    handlers.http(request as unknown as IncomingMessage, response as unknown as ServerResponse)
  })
  for (const server of servers.keys() as Iterable<Http2Server>) {
    server.on('session', (session) => session.settings({ initialWindowSize: unreadBytes }))
    const own = server.listeners('stream') as OnStream[]
    server.removeAllListeners('stream')
    server.on('stream', (stream, headers, flags, rawHeaders: string[]) => {
      // The client has reset it already.
      if (stream.destroyed) return
      stream.setTimeout(patience)
      stream.on('timeout', () => {
        // Any other way to end the stream would wait until the client has read the answer.
        if (stream.writableLength > 0) stream.close(constants.NGHTTP2_CANCEL)
      })
      const path = headers[':path']
      if (path === undefined) return stream.close()
      // Another verb, and a message that is no protobuf, are answered as HTTP: 405 and 415.
      const isGrpc = headers[':method'] === 'POST' && grpcType.test(headers['content-type'] ?? '')
      if (isGrpc && ownServices.test(path)) {
        if (handlers.admit(stream, headers, rawHeaders))
          for (const serve of own) serve.call(server, stream, headers, flags, rawHeaders)
        return
      }
      opened?.call(grpc, stream)
      // Node ends the answer to a HEAD before it begins.
      if (stream.writableFinished) drain(stream, patience)
      else stream.once('finish', () => drain(stream, patience))
      if (isGrpc) handlers.grpc(stream, headers, rawHeaders)
      else others.emit('stream', stream, headers, flags, rawHeaders)
    })
  }
}

/** How many streams of a connection may still send after their answer, and how much: twice the longest message. */
const [mostDraining, restBytes] = [4, 2 * 1024 * 1024]
/** The most milliseconds between two looks at such a stream. */
const lookEvery = 5_000
const draining = new WeakMap<object, number>()

// Lets the rest of an answered request come, and drops it: a client may send all of it before it looks at the answer.
// The stream is reset where the client pauses, goes on for longer than `patience` milliseconds or for too many bytes, or
// is one of many. RFC 9113 section 8.1 allows that only once the end of the answer has left. No event says when that is.
function drain(stream: ServerHttp2Stream, patience: number) {
  const { session } = stream
  if (!session || stream.endAfterHeaders || stream.readableEnded) return void stream.resume()
  const isWhole = () => stream.closed || stream.state.localClose === 1
  const others = draining.get(session) ?? 0
  draining.set(session, others + 1)
  const until = performance.now() + patience
  let [rest, seen] = [0, 0]
  const look = () => {
    // A stream that is paused would not end, closed or not.
    if (isWhole() && (rest === seen || performance.now() > until)) stream.resume().close()
    seen = rest
  }
  const looking = setInterval(look, Math.min(lookEvery, patience))
  stream.once('close', () => {
    clearInterval(looking)
    draining.set(session, draining.get(session)! - 1)
  })
  if (others >= mostDraining) {
    // Node would close the stream at once, were it neither read nor paused.
    stream.pause()
    const lookSoon = (ticks: number) => {
      look()
      if (ticks > 1) setImmediate(lookSoon, ticks - 1)
    }
    // The end leaves within a few ticks of the event loop, unless the connection is blocked.
    return void setImmediate(lookSoon, 10)
  }
  stream.on('data', ({ length }: Buffer) => {
    rest += length
    if (rest > restBytes) stream.close(isWhole() ? constants.NGHTTP2_NO_ERROR : constants.NGHTTP2_CANCEL)
  })
  stream.resume()
}

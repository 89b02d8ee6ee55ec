import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { constants, createServer, type Http2Server, type ServerHttp2Stream } from 'node:http2'
import type { Server } from '@grpc/grpc-js'
import { unreadBytes } from '../limits/under-way.ts'

type OnStream = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, flags: number, rawHeaders: string[]) => void

/** The handlers of the streams of HTTP/2. */
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
  // Tell the server of each stream: else it would close a connection in use as idle.
  const opened = Reflect.get(grpc, 'onStreamOpened') as ((stream: ServerHttp2Stream) => void) | undefined
  const others = createServer()
  others.on('request', (request, response) => {
    const { stream } = request
    // A reset is an error of the request too, and an error without a listener would end the process.
    request.on('error', () => {})
    stream.once('finish', () => leave(stream))
    handlers.http(request as unknown as IncomingMessage, response as unknown as ServerResponse)
  })
  for (const server of servers.keys() as Iterable<Http2Server>) {
    server.on('session', (session) => session.settings({ initialWindowSize: unreadBytes }))
    const own = server.listeners('stream') as OnStream[]
    server.removeAllListeners('stream')
    server.on('stream', (stream, headers, flags, rawHeaders: string[]) => {
      stream.setTimeout(patience, () => {
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
      if (isGrpc) handlers.grpc(stream, headers, rawHeaders)
      else others.emit('stream', stream, headers, flags, rawHeaders)
    })
  }
}

/** Ends an answered stream: nobody reads the rest of its request. */
export function leave(stream: ServerHttp2Stream): void {
  if (!stream.readableEnded) stream.close()
}
